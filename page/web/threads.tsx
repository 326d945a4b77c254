// The time of each thread, by class.
import { useState } from "preact/hooks";
import { Bar, Keys } from "./bar";
import { overheadOf, sumOf } from "./classes";
import type { Process } from "./data";
import { Figure } from "./figure";
import { percent, seconds } from "./format";
import { Table } from "./table";

const few = 32;

export function Threads({ p }: { p: Process }) {
  const [all, setAll] = useState(false);
  if (p.threads.length === 0) return <p class="card">No thread had a part in OpenMP or MPI.</p>;
  const rows = p.threads.map((t, i) => ({ ...t, i, work: t.whole.work ?? 0, lost: overheadOf(t.whole) }));
  const most = rows.reduce((m, r) => (r.work > m.work ? r : m)), least = rows.reduce((m, r) => (r.work < m.work ? r : m));
  const longest = Math.max(1, ...rows.map((r) => sumOf(r.whole)));
  const shown = all ? rows : rows.slice(0, few);
  const title = rows.length === 1 ? "There is one thread"
    : most.work - least.work > 0.05 * most.work ? `Thread ${most.label} works ${seconds(most.work)} in regions, thread ${least.label} ${seconds(least.work)}`
      : `Threads work alike: ${seconds(least.work)} to ${seconds(most.work)} in regions`;
  const columns = [
    { title: "Thread", cell: (r: typeof rows[0]) => r.label, by: (r: typeof rows[0]) => r.i },
    { title: "Time by part", cell: (r: typeof rows[0]) => <Bar parts={r.whole} scale={longest} label={`Thread ${r.label}`} />, class: "barcell broad" },
    { title: "Work", cell: (r: typeof rows[0]) => seconds(r.work), by: (r: typeof rows[0]) => r.work, number: true },
    { title: "Overhead", cell: (r: typeof rows[0]) => seconds(r.lost), by: (r: typeof rows[0]) => r.lost, number: true },
    { title: "of its time", cell: (r: typeof rows[0]) => percent(r.lost / sumOf(r.whole)), by: (r: typeof rows[0]) => r.lost / sumOf(r.whole), number: true },
  ];
  return (
    <Figure title={title} caption="All time of each thread by class. Idle is derived: what is left of the wall time beside all regions. A row of nested teams can be several threads.">
      <Table rows={shown} columns={columns} id={(r) => r.i} sort={0} ascending label="Threads" />
      {rows.length > few && <p><button type="button" class="plainbutton" onClick={() => setAll(!all)}>{all ? "Show fewer" : `Show all ${rows.length} threads`}</button></p>}
      <Keys of={rows.map((r) => r.whole)} />
    </Figure>
  );
}
