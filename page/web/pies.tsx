// Overheads of each rank as pies (Fuerlinger and Moore, Fig. 9), or as stacked bars.
import { arc, pie } from "d3-shape";
import { useState } from "preact/hooks";
import { Bar, Keys } from "./bar";
import { classes, inSentence, nameOf, overheadOf, overheads, sumOf } from "./classes";
import { partsOf, partsOfRank, type JobFigures, type JobRank, type PartKey, type Parts } from "./data";
import { Figure } from "./figure";
import { percent, seconds } from "./format";
import { Table } from "./table";

const fewPies = 8, mostPies = 24, fewBars = 32;
const key = (of: Item[]) => [...overheads].sort((a, b) => deviation(of, (p) => p[b] ?? 0) - deviation(of, (p) => p[a] ?? 0))[0]!;

function deviation(items: Item[], of: (p: Parts) => number): number {
  let sum = 0, squares = 0;
  for (const i of items) { const v = of(i.parts); sum += v; squares += v * v; }
  return Math.sqrt(Math.max(0, squares / items.length - (sum / items.length) ** 2));
}

// extremes returns the ranks with most and with least of a class.
function extremes(items: Item[], k: PartKey): Item[] {
  const sorted = [...items].sort((a, b) => (b.parts[k] ?? 0) - (a.parts[k] ?? 0));
  return [...sorted.slice(0, fewBars / 2), ...sorted.slice(-fewBars / 2)].sort((a, b) => Number(a.label) - Number(b.label));
}

interface Props { ranks: JobRank[]; byRank: JobFigures["by_rank"]; name: (region: number) => string }
interface Item { label: string; host: string; parts: Parts }

export function Pies({ ranks, byRank, name }: Props) {
  const [region, setRegion] = useState(0); // 0: all of the program
  const [form, setForm] = useState<"pies" | "bars">(ranks.length <= fewPies ? "pies" : "bars");
  const [only, setOnly] = useState(false);
  const [all, setAll] = useState(false);
  const items = region === 0 ? ranks.map((r) => ({ label: String(r.rank), host: r.host, parts: partsOfRank(r) })) : ofRegion(ranks, byRank, region);
  const drawn = items.map((i) => ({ ...i, parts: only ? Object.fromEntries(overheads.map((k) => [k, i.parts[k] ?? 0])) as Parts : i.parts }));
  const greatest = Math.max(1, ...drawn.map((i) => sumOf(i.parts)));
  const totals = drawn.map((i) => sumOf(i.parts));
  const sized = Math.max(...totals) - Math.min(...totals) > 0.05 * Math.max(...totals);
  const varies = key(drawn);
  const what = region === 0 ? "the whole program" : name(region);
  const choices = byRank.width === 1 ? byRank.regions.filter((r) => (r.figures.execT ?? []).some((v) => v > 0)) : [];
  return (
    <Figure title={finding(items)} caption={`Time of each rank's threads in ${what}, by class${form === "pies" ? `; ${sized ? "the area of a pie is its total" : "totals differ by less than 5 %, so all pies have one size"}` : ""}.${form === "bars" && drawn.length > fewBars && !all ? ` Of ${drawn.length} ranks, the ${fewBars / 2} with most and the ${fewBars / 2} with least ${inSentence(varies)}.` : ""}`}
      numbers={() => <Numbers items={items} />}>
      <div class="tools">
        <button type="button" aria-pressed={form === "pies"} onClick={() => setForm("pies")} disabled={drawn.length > mostPies}
          data-tip={drawn.length > mostPies ? `Pies are drawn for up to ${mostPies} ranks` : undefined}>Pies</button>
        <button type="button" aria-pressed={form === "bars"} onClick={() => setForm("bars")}>Bars</button>
        <button type="button" aria-pressed={only} onClick={() => setOnly(!only)}>Overheads only</button>
        {choices.length > 0 && (
          <select aria-label="Region" value={region} onChange={(e) => setRegion(Number(e.currentTarget.value))}>
            <option value={0}>The whole program</option>
            {choices.map((r) => <option key={r.region} value={r.region}>{name(r.region)}</option>)}
          </select>
        )}
      </div>
      {form === "pies"
        ? <div class="pies">{drawn.map((i) => <Pie key={i.label} item={i} share={sized ? sumOf(i.parts) / greatest : 1} />)}</div>
        : <Table rows={drawn.length > fewBars && !all ? extremes(drawn, varies) : drawn} id={(i) => i.label} sort={0} ascending label="Ranks by class" columns={[
          { title: "Rank", cell: (i) => i.label, by: (i) => Number(i.label) },
          { title: "Node", cell: (i) => i.host, by: (i) => i.host },
          { title: "Time by class", cell: (i) => <Bar parts={i.parts} scale={greatest} label={`Rank ${i.label}`} />, class: "barcell broad" },
          { title: "Total", cell: (i) => seconds(sumOf(i.parts)), by: (i) => sumOf(i.parts), number: true },
          { title: "Overhead", cell: (i) => seconds(overheadOf(i.parts)), by: (i) => overheadOf(i.parts), number: true },
        ]} />}
      {form === "bars" && drawn.length > fewBars && !all && <p><button type="button" class="plainbutton" onClick={() => setAll(true)}>Show all {drawn.length} ranks</button></p>}
      <Keys of={drawn.map((i) => i.parts)} />
    </Figure>
  );
}

function ofRegion(ranks: JobRank[], byRank: JobFigures["by_rank"], region: number): Item[] {
  const r = byRank.regions.find((x) => x.region === region)!;
  return ranks.map((k) => ({ label: String(k.rank), host: k.host, parts: partsOf((f) => r.figures[f]?.[k.rank]) }));
}

// finding says in which classes ranks differ most, or that all ranks are alike.
function finding(items: Item[]): string {
  const spread = (of: (p: Parts) => number) => deviation(items, of);
  const whole = items.reduce((m, i) => Math.max(m, sumOf(i.parts)), 0);
  const by = overheads.map((k) => [k, spread((p) => p[k] ?? 0)] as const).sort((a, b) => b[1] - a[1]);
  const [first, second] = by as [readonly [PartKey, number], readonly [PartKey, number]];
  if (first[1] < 0.01 * whole) return "The overheads of all ranks are alike";
  if (second[1] >= 0.25 * first[1] && spread(overheadOf) <= first[1] / 2) {
    return `Ranks lose the same time in all, but in other ways: ${nameOf(first[0])} on the one, ${nameOf(second[0])} on the other`;
  }
  return `Ranks differ most in ${inSentence(first[0])}`;
}

function Pie({ item, share }: { item: Item; share: number }) {
  const sum = sumOf(item.parts), radius = 46 * Math.sqrt(Math.max(0.02, share));
  const slices = pie<{ key: PartKey; t: number }>().sort(null).value((d) => d.t)(classes.map((c) => ({ key: c.key, t: Math.max(0, item.parts[c.key] ?? 0) })).filter((d) => d.t > 0));
  const draw = arc<(typeof slices)[0]>().innerRadius(0).outerRadius(radius);
  return (
    <div>
      <svg viewBox="-50 -50 100 100" role="img" aria-label={`Rank ${item.label}: ${slices.map((s) => `${nameOf(s.data.key)} ${percent(s.data.t / sum)}`).join(", ")}`}>
        {slices.map((s) => <path key={s.data.key} class={`seg slice c-${s.data.key}`} d={draw(s)!} data-ns={s.data.t} data-angle={s.endAngle - s.startAngle}
          data-tip={`Rank ${item.label}\n${nameOf(s.data.key)}: ${seconds(s.data.t)} (${percent(s.data.t / sum)})`} />)}
      </svg>
      <b>Rank {item.label}</b><br /><span class="muted">{item.host}, {seconds(sum)}</span>
    </div>
  );
}

function Numbers({ items }: { items: Item[] }) {
  const shown = classes.filter((c) => items.some((i) => (i.parts[c.key] ?? 0) !== 0));
  return <Table rows={items} id={(i) => i.label} sort={0} ascending label="Overheads by rank" columns={[
    { title: "Rank", cell: (i) => i.label, by: (i) => Number(i.label) },
    ...shown.map((c) => ({ title: c.name, cell: (i: Item) => seconds(i.parts[c.key] ?? 0), by: (i: Item) => i.parts[c.key] ?? 0, number: true })),
    { title: "Sum", cell: (i) => seconds(sumOf(i.parts)), by: (i) => sumOf(i.parts), number: true },
  ]} />;
}
