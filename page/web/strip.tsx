// The states of each thread, or of each rank of a job, over time. They are recorded with every
// profile, also without a timeline.
import { useMemo, useState } from "preact/hooks";
import type { Strip as Figures } from "./data";
import { Figure } from "./figure";
import { count, percent, plural, seconds } from "./format";
import { Table } from "./table";
import { useWidth } from "./width";

const names = 150, few = 16;
const states = [
  { key: "work", colour: "work", name: "In regions" },
  { key: "barrier", colour: "imbal", name: "In barriers, or waiting for tasks" },
  { key: "lock", colour: "synch", name: "Waiting for locks" },
  { key: "mpi", colour: "mpi", name: "In MPI" },
  { key: "runtime", colour: "mgmt", name: "Runtime's own work" },
];

const bytesOf = (text: string | undefined) => Uint8Array.from(atob(text ?? ""), (c) => c.charCodeAt(0));

export function Strip({ strip: s, who }: { strip: Figures; who: "thread" | "rank" }) {
  // All rows of a job are shown at once, in low rows if there are many: there are 128 at most.
  const job = who === "rank", low = job && s.rows.length > few, high = low ? 8 : 24, gap = low ? 1 : 4;
  const [all, setAll] = useState(job);
  const [around, width] = useWidth<HTMLDivElement>(560);
  const rows = useMemo(() => s.rows.map((r, i) => {
    const shares = states.map((st) => bytesOf(r.states[st.key]));
    return { i, label: r.label, shares, means: states.map((st) => (r.times[st.key] ?? 0) / Math.max(1, s.measured_ns)) };
  }), [s]);
  const off = useMemo(() => bytesOf(s.off), [s]);
  const shown = all ? rows : rows.slice(0, few), wide = width - names, height = shown.length * (high + gap);
  const mean = (k: number) => rows.reduce((t, r) => t + r.means[k]!, 0) / rows.length;
  const present = states.map((st, k) => ({ ...st, k, mean: mean(k) })).filter((st) => st.mean > 0);
  const waits = present.filter((st) => st.key !== "work").sort((a, b) => b.mean - a.mean)[0];
  const title = `${job ? "Threads of all ranks" : "Threads"} are about ${percent(mean(0))} of the time at work in regions${waits ? `, and ${percent(waits.mean)} ${waits.name.charAt(0).toLowerCase()}${waits.name.slice(1)}` : ""}`;
  return (
    <Figure title={title} caption={`What ${job ? "the threads of each rank were" : "each thread was"} in, over time. ${job ? "The ranks of different nodes are placed by the nodes' clocks. " : ""}A bin spans ${seconds(s.width_ns)}. A column is filled by the states' shares of the bin; what stays empty is outside of regions, tasks and calls. Shares are estimates: of many short executions some are noted for all.`}
      numbers={() => <Table rows={rows} id={(r) => r.i} sort={0} ascending label={`States by ${who}`} columns={[
        { title: job ? "Ranks" : "Thread", cell: (r) => r.label, by: (r) => r.i },
        ...present.map((st) => ({ title: st.name, cell: (r: typeof rows[0]) => percent(r.means[st.k]!), by: (r: typeof rows[0]) => r.means[st.k]!, number: true })),
      ]} />}>
      <div class="scroll" ref={around}><svg class="chart strip" style="min-width:560px" viewBox={`0 0 ${width} ${height + 16}`} role="img" aria-label={`The states of each ${who} over time. The numbers are below.`}>
        {shown.map((r, y) => {
          const base = new Float64Array(s.bins);
          return (
            <g key={r.i} transform={`translate(0 ${y * (high + gap)})`} data-tip={`${r.label}\n${present.map((st) => `${st.name}: ${percent(r.means[st.k]!)}`).join("\n")}`}>
              <rect x={names} y="0" width={wide} height={high} fill="var(--sunken)" />
              {(!low || y % 2 === 0) && <text x="0" y={high / 2 + (low ? 3.5 : 4)} font-size={low ? 9.5 : 11.5}>{r.label}</text>}
              {present.map((st) => <path key={st.key} class={`c-${st.colour}`} data-state={st.key} d={area(base, r.shares[st.k]!, s.bins, wide, high)} />)}
            </g>
          );
        })}
        {off.some((v) => v > 0) && <path fill="var(--line)" opacity="0.7" d={[...off].map((v, b) => (v > 0 ? `M${names + (b / s.bins) * wide} 0h${wide / s.bins}v${height - gap}h${-wide / s.bins}z` : "")).join("")} />}
        <text x={names} y={height + 10} font-size="10.5" class="dim">0 s</text>
        <text x={width} y={height + 10} font-size="10.5" class="dim" text-anchor="end">{seconds(s.width_ns * s.bins)}</text>
      </svg></div>
      {rows.length > few && !job && <p><button type="button" class="plainbutton" onClick={() => setAll(!all)}>{all ? "Show fewer" : `Show all ${count(rows.length)} threads`}</button></p>}
      <ul class="legend">{present.map((st) => <li key={st.key}><i class={`key k-${st.colour}`} />{st.name} <b>{percent(st.mean)}</b></li>)}</ul>
      {off.some((v) => v > 0) && <p class="muted small">Grey over all threads: measurement was switched off.</p>}
      {s.more ? <p class="muted small">{plural(s.more, "more thread")} had no room here.</p> : null}
    </Figure>
  );
}

// area returns the outline of a state's shares, on top of the states below it (base).
function area(base: Float64Array, shares: Uint8Array, bins: number, wide: number, high: number): string {
  let d = "", b = 0;
  while (b < shares.length) {
    if (shares[b] === 0) { b++; continue; }
    const first = b;
    let up = "", down = "";
    for (; b < shares.length && shares[b]! > 0; b++) {
      const low = base[b]!, top = Math.min(1, low + shares[b]! / 255);
      base[b] = top;
      const x0 = (names + (b / bins) * wide).toFixed(2), x1 = (names + ((b + 1) / bins) * wide).toFixed(2);
      up += `${b === first ? "M" : "L"}${x0} ${(high * (1 - top)).toFixed(2)}L${x1} ${(high * (1 - top)).toFixed(2)}`;
      down = `L${x1} ${(high * (1 - low)).toFixed(2)}L${x0} ${(high * (1 - low)).toFixed(2)}${down}`;
    }
    d += `${up}${down}z`;
  }
  return d;
}
