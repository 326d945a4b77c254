// The call sites of MPI in a process.
import type { Process, Region } from "./data";
import { bytes, code, count, percent, seconds } from "./format";
import { Table, type Column } from "./table";

export function CallSites({ p, calls }: { p: Process; calls: Region[] }) {
  const all = calls.reduce((t, r) => t + (r.mpi?.ns ?? 0), 0);
  const c = (r: Region) => r.mpi;
  const volume = (r: Region, n: number | undefined) => {
    const m = c(r);
    if (!m || (n === 0 && m.unknown === m.calls && m.calls > 0)) return "-";
    return bytes(n ?? 0) + (m.unknown ? "+" : "");
  };
  const columns: Column<Region>[] = [
    { title: "Region", cell: (r) => code(r.region), by: (r) => r.region },
    { title: "Call", cell: (r) => r.name ?? "MPI", by: (r) => r.name ?? "" },
    { title: "Place", cell: (r) => r.place, by: (r) => r.place, class: "place" },
    { title: "Time", cell: (r) => seconds(c(r)?.ns ?? 0), by: (r) => c(r)?.ns ?? 0, number: true, tip: "Summed over threads" },
    { title: "of MPI", cell: (r) => percent((c(r)?.ns ?? 0) / all), by: (r) => c(r)?.ns ?? 0, number: true },
    { title: "Calls", cell: (r) => count(c(r)?.calls ?? 0), by: (r) => c(r)?.calls ?? 0, number: true },
    { title: "Sent", cell: (r) => volume(r, c(r)?.out_bytes), by: (r) => c(r)?.out_bytes ?? 0, number: true },
    { title: "Received", cell: (r) => volume(r, c(r)?.in_bytes), by: (r) => c(r)?.in_bytes ?? 0, number: true },
    { title: "Smallest", cell: (r) => (c(r)?.sized ? bytes(c(r)!.min_bytes ?? 0) : "-"), by: (r) => c(r)?.min_bytes ?? 0, number: true, tip: "Bytes of the smallest call, in both directions" },
    { title: "Largest", cell: (r) => (c(r)?.sized ? bytes(c(r)!.max_bytes ?? 0) : "-"), by: (r) => c(r)?.max_bytes ?? 0, number: true, tip: "Bytes of the largest call, in both directions" },
  ];
  return (
    <div class="card">
      <Table rows={calls} columns={columns} id={(r) => r.region} sort={3} label="Call sites of MPI" text={(r) => `${r.name ?? ""} ${r.place}`} />
      <p class="muted small">{percent(all / p.head.thread_ns)} of all threads' time. A + marks volumes that lack calls of unknown volume; - is not known.</p>
    </div>
  );
}
