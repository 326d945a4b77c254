// The table of regions of a process.
import { Bar, Keys } from "./bar";
import { inSentence, overheadOf, worst } from "./classes";
import type { Process, Region } from "./data";
import { code, count, percent, seconds } from "./format";
import { Panel } from "./panel";
import { Table, type Column } from "./table";

interface Props { p: Process; opened?: string | number; onOpen: (id: string | number | undefined) => void }

export function Regions({ p, opened, onOpen }: Props) {
  const longest = Math.max(1, ...p.regions.map((r) => r.exclusive_ns));
  const whole = p.head.thread_ns;
  const columns: Column<Region>[] = [
    { title: "Region", cell: (r) => code(r.region), by: (r) => r.region },
    { title: "Construct", cell: (r) => r.construct, by: (r) => r.construct },
    { title: "Place", cell: (r) => r.place, by: (r) => r.place, class: "place" },
    { title: "Time by part", cell: (r) => <Bar parts={r.own} scale={longest} label={`${code(r.region)} ${r.place}`} mark={r.mark} />, class: "barcell" },
    { title: "Exclusive", cell: (r) => `${r.mark ?? ""}${seconds(r.exclusive_ns)}`, by: (r) => r.exclusive_ns, number: true, tip: "Without the regions inside, summed over threads" },
    { title: "Share", cell: (r) => percent(r.exclusive_ns / whole), by: (r) => r.exclusive_ns, number: true, class: "opt", tip: "Of all threads' time" },
    { title: "Overhead", cell: (r) => overhead(r), by: (r) => overheadOf(r.own), number: true, tip: "The part of the exclusive time in any class of overhead" },
    { title: "Inclusive", cell: (r) => `${r.mark ?? ""}${seconds(r.inclusive_ns)}`, by: (r) => r.inclusive_ns, number: true, class: "opt", tip: "With the regions inside, summed over threads" },
    { title: "Executions", cell: (r) => `${r.mark ?? ""}${count(r.execs)}${r.lossy ? " (lost some)" : ""}`, by: (r) => r.execs, number: true, tip: "Summed over threads" },
  ];
  if (p.regions.length === 0) return <p class="card">No region was executed while it was measured.</p>;
  return (
    <div class="card">
      <Table rows={p.regions} columns={columns} id={(r) => r.region} sort={4} label="Regions"
        text={(r) => `${code(r.region)} ${r.construct} ${r.place} ${r.function ?? ""} ${r.file ?? ""}`}
        panel={(r) => <Panel p={p} r={r} />} opened={opened} onOpen={onOpen} />
      <Keys of={p.regions.map((r) => r.own)} />
    </div>
  );
}

function overhead(r: Region) {
  const t = overheadOf(r.own), most = worst(r.own);
  return t > 0 && most ? <span data-tip={`most of it ${inSentence(most)}`}>{seconds(t)}</span> : "-";
}
