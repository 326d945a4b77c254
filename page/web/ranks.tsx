// The table of all ranks.
import { Bar, Keys } from "./bar";
import { overheadOf, sumOf } from "./classes";
import type { JobFigures, JobRank, Parts } from "./data";
import { Figure } from "./figure";
import { estimate, percent, seconds } from "./format";
import { Table } from "./table";

export function Ranks({ f, parts }: { f: JobFigures; parts: (r: JobRank) => Parts }) {
  const rows = f.ranks.map((r) => ({ r, parts: parts(r) }));
  const longest = Math.max(1, ...rows.map((x) => sumOf(x.parts)));
  const share = (x: typeof rows[0]) => overheadOf(x.parts) / sumOf(x.parts);
  const most = rows.reduce((a, b) => (share(b) > share(a) ? b : a)), least = rows.reduce((a, b) => (share(b) < share(a) ? b : a));
  const ended = f.ranks.some((r) => r.ended);
  const probes = f.ranks.some((r) => r.probe_ns !== null);
  return (
    <Figure title={rows.length > 1 && share(most) - share(least) < 0.005 ? `Overhead is ${percent(share(most))} of each rank's time`
      : rows.length > 1 ? `Overhead is ${percent(share(least))} of rank ${least.r.rank}'s time, and ${percent(share(most))} of rank ${most.r.rank}'s` : "One rank"}
      caption="All time of each rank's threads by class. A column's title sorts.">
      <Table rows={rows} id={(x) => x.r.rank} sort={0} ascending label="Ranks" text={(x) => `${x.r.rank} ${x.r.host} ${x.r.ended ?? ""}`} columns={[
        { title: "Rank", cell: (x) => x.r.rank, by: (x) => x.r.rank },
        { title: "Node", cell: (x) => x.r.host, by: (x) => x.r.host },
        { title: "Threads", cell: (x) => x.r.threads, by: (x) => x.r.threads, number: true },
        { title: "Time by class", cell: (x) => <Bar parts={x.parts} scale={longest} label={`Rank ${x.r.rank}`} />, class: "barcell broad" },
        { title: "Wall", cell: (x) => seconds(x.r.wall_ns), by: (x) => x.r.wall_ns, number: true },
        { title: "Overhead", cell: (x) => percent(share(x)), by: share, number: true, tip: "Of the time of the rank's threads" },
        { title: "MPI", cell: (x) => seconds(x.r.mpi_ns), by: (x) => x.r.mpi_ns, number: true, tip: "Summed over threads" },
        ...(probes ? [{ title: "Probes", cell: (x: typeof rows[0]) => (x.r.probe_ns === null ? "-" : estimate(x.r.probe_lowered, seconds(x.r.probe_ns))), by: (x: typeof rows[0]) => x.r.probe_ns ?? -1, number: true, tip: "That probe hits took of the rank's threads" }] : []),
        ...(ended ? [{ title: "Ended", cell: (x: typeof rows[0]) => `${x.r.ended ?? "not known"}${x.r.lost_events ? ", lost events" : ""}`, by: (x: typeof rows[0]) => x.r.ended ?? "" }] : []),
      ]} />
      <Keys of={rows.map((x) => x.parts)} />
    </Figure>
  );
}
