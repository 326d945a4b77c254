// The regions of a comparison: sorted bars of the differences of their own time.
import { Bar, Keys } from "./bar";
import { about, amount, bounds, chance, changed, type Change, type Comparison, type DiffRegion, mostChanged, onlyOn, own, partsOfRegion,
  ratio, signed, spread, type Summary, type Unit } from "./change";
import { sumOf } from "./classes";
import { Figure } from "./figure";
import { percent } from "./format";
import { Table, type Column } from "./table";

interface Row { i: number; r: DiffRegion }
interface Props { c: Comparison; opened?: string | number; onOpen: (id: string | number | undefined) => void }

export function DiffRegions({ c, opened, onOpen }: Props) {
  const rows = c.regions.map((r, i) => ({ i, r }));
  // The interval of a difference may reach farther than all differences.
  const reach = Math.max(1, ...c.regions.flatMap((r) => [own(r).delta, ...(bounds(own(r)) ?? [])].map(Math.abs)));
  const columns: Column<Row>[] = [
    { title: "Region", cell: ({ r }) => <>{r.title} {onlyOn(r) && <i class={`only ${onlyOn(r)}`}>{onlyOn(r)}</i>}</>, by: ({ r }) => r.title, class: "place broad" },
    { title: "Difference of own time", cell: ({ r }) => <DeltaBar r={r} reach={reach} />, by: ({ r }) => Math.abs(own(r).delta), class: "barcell", tip: "B's less A's, of all threads. Bars to the right: B takes longer. Sorted by size" },
    { title: "Difference", cell: ({ r }) => signed(own(r).delta, "ns"), by: ({ r }) => own(r).delta, number: true },
    { title: "Part of A", cell: ({ r }) => ratio(own(r)), by: ({ r }) => own(r).ratio ?? Infinity, number: true },
    { title: "p", cell: ({ r }) => `${chance(own(r))}${changed(r) ? " *" : ""}`, by: ({ r }) => own(r).p ?? 1, number: true, tip: "The chance that runs of one program differ as much. *: more than the spread of the repeats, over all that was tested together" },
    { title: "A", cell: ({ r }) => r.a ? spread(own(r).a, "ns") : "-", by: ({ r }) => own(r).a.median, number: true, class: "opt", tip: "Own time of all threads, with the wider side of the median's interval" },
    { title: "B", cell: ({ r }) => r.b ? spread(own(r).b, "ns") : "-", by: ({ r }) => own(r).b.median, number: true, class: "opt" },
    { title: "Share", cell: ({ r }) => percent(r.share), by: ({ r }) => r.share, number: true, class: "opt", tip: "Of the thread time, on the side with more of it" },
  ];
  if (c.tests === 0) columns.splice(4, 1);
  return (
    <Figure title={mostChanged(c)} caption={`Own time of all threads, without the regions inside; medians. Orange to the right: B takes longer; blue to the left: less.${c.tests > 0
      ? " Full colour and *: more than the spread of the repeats; pale: not." : " Pale: with so few repeats no difference can be told from noise."}${c.regions.some((r) => bounds(own(r)))
      ? " Whiskers: what the intervals of both medians allow." : ""} A row opens.`}>
      <Table rows={rows} columns={columns} id={({ i }) => i} sort={1} label="Regions by difference" text={({ r }) => r.title}
        panel={({ r }) => <Panel c={c} r={r} />} opened={opened} onOpen={onOpen} />
      <ul class="legend">
        <li><i class="key k-slower" />B takes longer</li><li><i class="key k-faster" />B takes less</li>
        {c.regions.some((r) => onlyOn(r) === "new") && <li><i class="only new">new</i> only B has it</li>}
        {c.regions.some((r) => onlyOn(r) === "gone") && <li><i class="only gone">gone</i> only A has it</li>}
      </ul>
    </Figure>
  );
}

// DeltaBar draws a difference from the middle: to the right if B takes longer.
function DeltaBar({ r, reach }: { r: DiffRegion; reach: number }) {
  const x = own(r), between = bounds(x), only = onlyOn(r);
  const at = (v: number) => 500 + 490 * v / reach;
  const w = Math.abs(at(x.delta) - 500);
  return (
    <svg class="delta" viewBox="0 0 1000 20" preserveAspectRatio="none" role="img" aria-label={`${signed(x.delta, "ns")}, ${ratio(x)}`}
      data-delta={x.delta} data-tip={`${r.title}${only ? ` (${only})` : ""}\n${about(x, "ns")}${changed(r) ? "\nmore than the spread of the repeats" : ""}`}>
      <line class="zero" x1="500" y1="0" x2="500" y2="20" />
      {w > 0 && <rect class={`${x.delta > 0 ? "slower" : "faster"}${changed(r) ? "" : " unsure"}`} x={Math.min(500, at(x.delta))} y="3" width={Math.max(w, 1)} height="14" />}
      {between && <line class="whisker" x1={at(between[0])} y1="10" x2={at(between[1])} y2="10" />}
    </svg>
  );
}

// figures are the figures of an opened row, as far as they are known: key, title, unit.
const figures: [string, string, Unit][] = [["ownT", "Own time", "ns"], ["ownWorkT", "of it work", "ns"], ["synch", "synchronisation", "ns"], ["imbal", "imbalance", "ns"],
  ["limpar", "limited parallelism", "ns"], ["mgmt", "management", "ns"], ["mpi", "MPI", "ns"], ["noCore", "no core", "ns"],
  ["execT", "Time with the regions inside", "ns"], ["wallT", "Time of the longest thread", "ns"], ["execC", "Executions", "count"],
  ["calls", "MPI calls inside", "count"], ["outV", "Bytes sent", "bytes"], ["inV", "Bytes received", "bytes"], ["readV", "Bytes read", "bytes"], ["writtenV", "Bytes written", "bytes"]];

function Panel({ c, r }: { c: Comparison; r: DiffRegion }) {
  const a = partsOfRegion(r, "a"), b = partsOfRegion(r, "b");
  const scale = Math.max(sumOf(a), sumOf(b));
  const known = figures.flatMap(([key, name, unit]) => {
    const x = r.figures[key] ?? r.figures[`${key}_${c.accounting}`];
    return x ? [{ name, unit, x }] : [];
  });
  for (const [name, x] of Object.entries(r.counters ?? {})) known.push({ name, unit: "count", x });
  return (
    <div class="panelbody">
      <div>
        <h3>Own time by class</h3>
        <div class="twobars">
          <b>A</b>{r.a ? <Bar parts={a} scale={scale} label="A" /> : <i class="muted">does not have this region</i>}<span>{r.a && amount(own(r).a.median, "ns")}</span>
          <b>B</b>{r.b ? <Bar parts={b} scale={scale} label="B" /> : <i class="muted">does not have this region</i>}<span>{r.b && amount(own(r).b.median, "ns")}</span>
        </div>
        <Keys of={[a, b]} />
      </div>
      {own(r).a.values.length + own(r).b.values.length > 2 && <div><h3>Own time of each run</h3><Runs x={own(r)} /></div>}
      <div>
        <h3>Figures{r.moved && " (the region is in other lines now)"}</h3>
        <Table rows={known} id={(f) => f.name} label="Figures of the region" columns={[
          { title: "Figure", cell: (f) => f.name },
          { title: "A", cell: (f) => spread(f.x.a, f.unit), number: true },
          { title: "B", cell: (f) => spread(f.x.b, f.unit), number: true },
          { title: "Difference", cell: (f) => signed(f.x.delta, f.unit), number: true },
          { title: "Part of A", cell: (f) => ratio(f.x), number: true },
          { title: "p", cell: (f) => chance(f.x), number: true },
        ]} />
      </div>
    </div>
  );
}

// Runs draws the value of each run, and the median of each side.
function Runs({ x }: { x: Change }) {
  const all = [...x.a.values, ...x.b.values], lo = Math.min(...all), hi = Math.max(...all);
  const at = (v: number) => 20 + (960 * (v - lo)) / (hi - lo || 1);
  const row = (s: Summary, y: number, name: string, cls: string) => (
    <g>
      {s.lo !== null && s.hi !== null && <rect class={`${cls} unsure`} x={at(s.lo)} y={y - 7} width={Math.max(1, at(s.hi) - at(s.lo))} height="14" />}
      {s.values.map((v, i) => <circle key={i} class={`dot ${cls}`} cx={at(v)} cy={y} r="4.5" data-tip={`${name}, run ${i + 1}: ${amount(v, "ns")}`} />)}
      <line class="median" x1={at(s.median)} x2={at(s.median)} y1={y - 9} y2={y + 9} />
    </g>
  );
  return (
    <>
      <svg class="chart runs" viewBox="0 0 1000 56" role="img" aria-label={`Runs of A: median ${amount(x.a.median, "ns")}; of B: ${amount(x.b.median, "ns")}`}>
        <text x="0" y="18" font-size="12">A</text><text x="0" y="44" font-size="12">B</text>
        {row(x.a, 14, "A", "sidea")}{row(x.b, 40, "B", "sideb")}
      </svg>
      <p class="muted small runscale"><span>{amount(lo, "ns")}</span><span>a dot per run; line: median; box: its interval</span><span>{amount(hi, "ns")}</span></p>
    </>
  );
}
