// The call sites of MPI in a job.
import type { Job, JobRegion } from "./data";
import { bytes, code, count, seconds } from "./format";
import { Table, type Column } from "./table";

export function JobCalls({ job, calls }: { job: Job; calls: JobRegion[] }) {
  const by = job.figures.accounting;
  const sum = (r: JobRegion, f: string) => r.figures[f]?.sum ?? 0;
  const volume = (r: JobRegion, f: string) => {
    const unknown = sum(r, "unknownC");
    if (unknown > 0 && sum(r, "sizedC") === 0) return "-";
    return bytes(sum(r, f)) + (unknown > 0 ? "+" : "");
  };
  const columns: Column<JobRegion>[] = [
    { title: "Region", cell: (r) => code(r.region), by: (r) => r.region },
    { title: "Place", cell: (r) => job.places[r.region - 1], by: (r) => job.places[r.region - 1]!, class: "place" },
    { title: "Time", cell: (r) => seconds(sum(r, "execT")), by: (r) => sum(r, "execT"), number: true, tip: "Summed over threads and ranks" },
    { title: "Least (rank)", cell: (r) => extreme(r, "min"), by: (r) => r.figures.execT?.min ?? 0, number: true },
    { title: "Most (rank)", cell: (r) => extreme(r, "max"), by: (r) => r.figures.execT?.max ?? 0, number: true },
    { title: "Calls", cell: (r) => count(sum(r, "calls")), by: (r) => sum(r, "calls"), number: true },
    { title: "Sent", cell: (r) => volume(r, `outV_${by}`), by: (r) => sum(r, `outV_${by}`), number: true },
    { title: "Received", cell: (r) => volume(r, `inV_${by}`), by: (r) => sum(r, `inV_${by}`), number: true },
    { title: "Bytes of a call", cell: (r) => (r.call_bytes ? `${bytes(r.call_bytes.min)} to ${bytes(r.call_bytes.max)}` : "-"), by: (r) => r.call_bytes?.mean ?? 0, number: true, tip: "The smallest and the largest call; sorted by the mean" },
  ];
  return (
    <div class="card">
      <Table rows={calls} columns={columns} id={(r) => r.region} sort={2} label="Call sites of MPI" text={(r) => job.places[r.region - 1]!} />
      <p class="muted small">Ranks that are in a call for least time are those that the others wait for. A + marks volumes that lack calls of unknown volume; - is not known.</p>
    </div>
  );
}

function extreme(r: JobRegion, which: "min" | "max") {
  const s = r.figures.execT;
  return s ? `${seconds(s[which])} (${s[`${which}_rank`]})` : "-";
}
