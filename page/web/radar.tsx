// A radar chart of regions over ranks (Fuerlinger and Moore, Fig. 8).
import { curveLinearClosed, lineRadial } from "d3-shape";
import { useState } from "preact/hooks";
import type { JobFigures } from "./data";
import { Figure } from "./figure";
import { percent, seconds } from "./format";
import { Table } from "./table";

const size = 200, most = 6;

const choices: [string, string][] = [["execT", "Time in the region"], ["workT", "Work"], ["imbalT", "Imbalance"], ["synchT", "Synchronisation"], ["mpiT", "MPI"]];

interface Shape { region: number; label: string; values: number[]; max: number; min: number; mean: number; cv: number }

export function Radar({ f, name }: { f: JobFigures; name: (region: number) => string }) {
  const [figure, setFigure] = useState("execT");
  const [order, setOrder] = useState<"time" | "deviation">("time");
  const [number, setNumber] = useState(2);
  const ranks = f.ranks.map((r) => r.rank);
  const shapes: Shape[] = f.by_rank.regions.flatMap((r) => {
    const all = r.figures[figure];
    if (!all) return [];
    const values = ranks.map((k) => all[k] ?? 0), max = Math.max(...values);
    if (max <= 0) return [];
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const cv = Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length) / mean;
    return [{ region: r.region, label: name(r.region), values, max, min: Math.min(...values), mean, cv }];
  }).sort((a, b) => (order === "time" ? b.mean - a.mean : b.cv * b.mean - a.cv * a.mean));
  const shown = shapes.slice(0, number);
  if (shapes.length === 0) return null;
  const angle = (i: number) => (2 * Math.PI * i) / ranks.length;
  const line = lineRadial<number>().angle((_, i) => angle(i)).radius((v) => v * size).curve(curveLinearClosed);
  const dented = shown.reduce((a, b) => (b.cv > a.cv ? b : a));
  const low = dented.values.map((v, i) => [v, ranks[i]!] as const).filter(([v]) => v < 0.9 * dented.max).map(([, r]) => r);
  const title = low.length > 0 && low.length < ranks.length
    ? `Not round: ${dented.label} takes less on rank${low.length > 1 ? "s" : ""} ${low.join(", ")}`
    : "Round: all ranks spend like times in these regions";
  return (
    <Figure title={title} caption="A spoke per rank, rank 0 on top, clockwise. Each region's time, summed over the rank's threads, is divided by its greatest, so that the outermost ring is 1." numbers={() => (
      <Table rows={shapes} id={(s) => s.region} label="Regions by rank" columns={[
        { title: "Region", cell: (s) => s.label, class: "place" },
        { title: "Most", cell: (s) => seconds(s.max), by: (s) => s.max, number: true },
        { title: "Least", cell: (s) => seconds(s.min), by: (s) => s.min, number: true },
        { title: "Variation", cell: (s) => percent(s.cv), by: (s) => s.cv, number: true },
        ...(ranks.length <= 16 ? ranks.map((r, i) => ({ title: `Rank ${r}`, cell: (s: Shape) => seconds(s.values[i]!), by: (s: Shape) => s.values[i]!, number: true })) : []),
      ]} />
    )}>
      <div class="tools">
        <select aria-label="Figure" value={figure} onChange={(e) => setFigure(e.currentTarget.value)}>
          {choices.filter(([k]) => f.by_rank.regions.some((r) => r.figures[k])).map(([k, t]) => <option key={k} value={k}>{t}</option>)}
        </select>
        <select aria-label="Which regions" value={order} onChange={(e) => setOrder(e.currentTarget.value as "time" | "deviation")}>
          <option value="time">Regions that take most</option><option value="deviation">Regions that differ most</option>
        </select>
        <select aria-label="How many regions" value={number} onChange={(e) => setNumber(Number(e.currentTarget.value))}>
          {Array.from({ length: Math.min(most, shapes.length) }, (_, i) => <option key={i} value={i + 1}>{i + 1} region{i ? "s" : ""}</option>)}
        </select>
      </div>
      <svg class="chart radar" style="max-width:520px;margin:0 auto" viewBox="-250 -235 500 470" role="img" aria-label={title}>
        {[0.25, 0.5, 0.75, 1].map((r) => (
          <g key={r}><circle class="gridline" r={r * size} /><text x="3" y={-r * size - 3} font-size="10" class="dim">{r}</text></g>
        ))}
        {ranks.map((r, i) => (
          <g key={r}>
            <line class="gridline" x1="0" y1="0" x2={size * Math.sin(angle(i))} y2={-size * Math.cos(angle(i))} />
            <text x={(size + 18) * Math.sin(angle(i))} y={-(size + 18) * Math.cos(angle(i)) + 4} text-anchor="middle" font-size="12">{r}</text>
          </g>
        ))}
        {shown.map((s, k) => (
          <g key={s.region} class={`poly${k}`}>
            <path class={`poly poly${k}`} d={line(s.values.map((v) => v / s.max))!} />
            {s.values.map((v, i) => <circle key={i} class="point" r="4" cx={(v / s.max) * size * Math.sin(angle(i))} cy={-(v / s.max) * size * Math.cos(angle(i))}
              data-radius={v / s.max} data-tip={`${s.label}\nrank ${ranks[i]}: ${seconds(v)} (${(v / s.max).toFixed(2)})`} />)}
          </g>
        ))}
      </svg>
      <ul class="legend">{shown.map((s, k) => (
        <li key={s.region} class="radarkey"><svg width="12" height="12" aria-hidden="true"><rect class={`poly${k}`} width="12" height="12" rx="2" /></svg> {s.label}: <b>max {seconds(s.max)}</b>, min {seconds(s.min)}, variation {percent(s.cv)}</li>
      ))}</ul>
    </Figure>
  );
}
