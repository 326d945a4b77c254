// How the ranks of a job differ: for each time of a whole rank, its spread over the ranks.
import type { JobFigures } from "./data";
import { Figure } from "./figure";
import { percent, seconds } from "./format";
import { Table } from "./table";
import { useWidth } from "./width";

const row = 26, names = 120; // pixels

export function Alike({ f }: { f: JobFigures }) {
  const [around, width] = useWidth<HTMLDivElement>(480);
  if (f.ranks.length < 2) return <p class="card">There is one rank only: nothing to compare.</p>;
  const shown = f.quantities.filter((q) => q.max > 0);
  const differ = shown.filter((q) => q.verdict === "differ").map((q) => q.name);
  const outliers = shown.filter((q) => q.verdict === "outliers").map((q) => q.name);
  const title = differ.length > 0 ? `Ranks differ in: ${differ.join(", ")}` : outliers.length > 0 ? `Single ranks stand out in: ${outliers.join(", ")}` : "The ranks behave alike";
  const x = (q: typeof shown[0], v: number) => names + 4 + ((width - names - 80) * v) / Math.max(1, q.max, q.whole_ns);
  return (
    <Figure title={title} caption="Each line spans the least to the greatest of the ranks; the tick is their mean, the end of the grey track the whole (mean wall time, or mean thread time of sums over threads)." numbers={() => (
      <Table rows={shown} id={(q) => q.name} label="Times of ranks" columns={[
        { title: "Time", cell: (q) => q.name },
        { title: "Least", cell: (q) => seconds(q.min), by: (q) => q.min, number: true }, { title: "Rank", cell: (q) => q.min_rank, number: true },
        { title: "Mean", cell: (q) => seconds(q.mean), by: (q) => q.mean, number: true },
        { title: "Most", cell: (q) => seconds(q.max), by: (q) => q.max, number: true }, { title: "Rank ", cell: (q) => q.max_rank, number: true },
        { title: "Deviation", cell: (q) => seconds(q.stddev), by: (q) => q.stddev, number: true },
        { title: "of the whole", cell: (q) => percent(q.stddev / q.whole_ns), by: (q) => q.stddev / q.whole_ns, number: true },
        { title: "Ranks are", cell: (q) => q.verdict },
      ]} />
    )}>
      <div class="scroll" ref={around}><svg class="chart" style="min-width:480px" viewBox={`0 0 ${width} ${shown.length * row}`} role="img" aria-label={title}>
        {shown.map((q, i) => (
          <g key={q.name} transform={`translate(0 ${i * row})`} data-tip={`${q.name}: ${q.verdict}\nleast ${seconds(q.min)} (rank ${q.min_rank})\nmean ${seconds(q.mean)}\nmost ${seconds(q.max)} (rank ${q.max_rank})`}>
            <text x={names - 8} y="17" text-anchor="end" font-size="12">{q.name}</text>
            <rect x={names + 4} y="9" width={x(q, q.whole_ns) - names - 4} height="8" rx="4" fill="var(--sunken)" />
            <rect x={x(q, q.min)} y="9" width={Math.max(3, x(q, q.max) - x(q, q.min))} height="8" rx="1.5" fill={q.verdict === "alike" ? "var(--muted)" : "var(--synch)"} />
            <rect x={x(q, q.mean) - 1} y="5" width="2" height="16" fill="var(--text)" />
            <text x={width} y="17" text-anchor="end" font-size="11.5" class={q.verdict === "alike" ? "dim" : undefined}>{q.verdict}</text>
          </g>
        ))}
      </svg></div>
    </Figure>
  );
}
