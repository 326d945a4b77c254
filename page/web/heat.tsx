// A heat map: rows are regions, columns threads or ranks.
import { useState } from "preact/hooks";
import { Figure } from "./figure";
import { percent, seconds } from "./format";
import { Table } from "./table";
import { useWidth } from "./width";

export interface HeatRow { name: string; values: (number | undefined)[]; low?: (number | undefined)[]; high?: (number | undefined)[] }
export interface HeatChoice { name: string; rows: HeatRow[] }
interface Props {
  title: (row: string) => string; alike: string; caption: string;
  who: string; columns: string[]; choices: HeatChoice[];
}

const rowHeight = 22, fewRows = 15, mostColumns = 256;

interface Judged extends HeatRow { most: number; least: number; mean: number; deviation: number; mostAt: number; leastAt: number }

function judge(row: HeatRow): Judged {
  let most = -Infinity, least = Infinity, mostAt = 0, leastAt = 0, sum = 0, squares = 0, n = 0;
  row.values.forEach((v, i) => {
    if (v === undefined) return;
    const high = row.high?.[i] ?? v, low = row.low?.[i] ?? v;
    if (high > most) { most = high; mostAt = i; }
    if (low < least) { least = low; leastAt = i; }
    sum += v; squares += v * v; n++;
  });
  const mean = n ? sum / n : 0;
  return { ...row, most, least, mean, mostAt, leastAt, deviation: n ? Math.sqrt(Math.max(0, squares / n - mean * mean)) : 0 };
}

export function Heat({ title, alike, caption, who, columns, choices }: Props) {
  const [all, setAll] = useState(false);
  const [choice, setChoice] = useState(0);
  const [around, width] = useWidth<HTMLDivElement>(560);
  const names = Math.min(320, 0.38 * width); // pixels for the names of rows
  const judged = choices[choice]!.rows.map(judge).filter((r) => r.most > 0).sort((a, b) => b.deviation - a.deviation);
  if (columns.length < 2 || choices.every((c) => c.rows.length === 0)) return null;
  const shown = all ? judged : judged.slice(0, fewRows);
  const top = judged.find((r) => r.deviation > 0.05 * r.mean);
  const longest = judged.reduce((m, r) => Math.max(m, r.most), 0);
  const single = judged.find((r) => r.most > 1.25 * r.mean && r.most - r.mean > 0.01 * longest);
  const merge = Math.ceil(columns.length / mostColumns);
  const n = Math.ceil(columns.length / merge);
  const cell = (width - names) / n;
  const label = (i: number) => (merge === 1 ? columns[i]! : `${columns[i * merge]} to ${columns[Math.min(columns.length, (i + 1) * merge) - 1]}`);
  const value = (r: Judged, i: number) => {
    let most: number | undefined;
    for (const v of r.values.slice(i * merge, (i + 1) * merge)) if (v !== undefined && (most === undefined || v > most)) most = v;
    return most;
  };
  const height = shown.length * rowHeight + 26;
  const every = Math.max(1, Math.ceil(34 / cell));
  return (
    <Figure title={top ? title(top.name) : single ? `${alike}, but ${columns[single.mostAt]!.includes(" to ") ? `one of the ${who}s` : who} ${columns[single.mostAt]} stands out in ${single.name}` : alike} caption={caption + (merge > 1 ? ` A column is the greatest of ${merge} neighbours.` : "")} numbers={() => (
      <Table rows={judged} id={(r) => judged.indexOf(r)} label={`Regions by ${who}`} sort={6} text={(r) => r.name} columns={[
        { title: "Region", cell: (r) => r.name, class: "place" },
        { title: "Mean", cell: (r) => seconds(r.mean), by: (r) => r.mean, number: true },
        { title: "Least", cell: (r) => seconds(r.least), by: (r) => r.least, number: true },
        { title: `of ${who}`, cell: (r) => columns[r.leastAt], number: true },
        { title: "Most", cell: (r) => seconds(r.most), by: (r) => r.most, number: true },
        { title: `of ${who} `, cell: (r) => columns[r.mostAt], number: true },
        { title: "Standard deviation", cell: (r) => seconds(r.deviation), by: (r) => r.deviation, number: true },
      ]} />
    )}>
      <div class="tools">{choices.map((c, i) => <button key={c.name} type="button" aria-pressed={i === choice} onClick={() => setChoice(i)}>{c.name}</button>)}</div>
      <div class="scroll" ref={around}><svg class="chart" style="min-width:560px" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${caption} The numbers are below.`}>
        {shown.map((r, y) => (
          <g key={r.name + y} transform={`translate(0 ${y * rowHeight})`}>
            <text x={names - 8} y="15" text-anchor="end" font-size="11.5" data-tip={r.name}>{cut(r.name, names)}</text>
            {Array.from({ length: n }, (_, i) => {
              const v = value(r, i);
              const tip = `${r.name}\n${who} ${label(i)}: ${v === undefined ? "not there" : `${seconds(v)} (${percent(v / r.most)} of the most, ${who} ${columns[r.mostAt]})`}`;
              return v === undefined
                ? <rect key={i} class="empty" x={names + i * cell + 0.5} y="1.5" width={Math.max(0.5, cell - 1)} height={rowHeight - 3} data-tip={tip} />
                : <rect key={i} class="heat" x={names + i * cell} y="1" width={cell > 4 ? cell - 1 : cell} height={rowHeight - 2} fill-opacity={0.06 + 0.94 * Math.max(0, v / r.most)} data-tip={tip} />;
            })}
          </g>
        ))}
        <g transform={`translate(0 ${shown.length * rowHeight + 14})`}>
          {Array.from({ length: n }, (_, i) => i % every === 0 && <text key={i} x={names + (i + 0.5) * cell} y="0" text-anchor="middle" font-size="10.5" class="dim">{columns[i * merge]!.split(" to ")[0]}</text>)}
          <text x={names - 8} y="0" text-anchor="end" font-size="10.5" class="dim">{who}</text>
        </g>
      </svg></div>
      {judged.length > fewRows && <p><button type="button" class="plainbutton" onClick={() => setAll(!all)}>{all ? "Show fewer" : `Show all ${judged.length} regions`}</button></p>}
    </Figure>
  );
}

const cut = (name: string, width: number) => {
  const letter = 7.2; // pixels: names of MPI calls have many wide letters
  const fits = Math.floor((width - 10) / letter);
  return name.length > fits ? `${name.slice(0, fits - 1)}\u2026` : name;
};
