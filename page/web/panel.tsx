// The contents of an opened region: threads, call paths, hot lines with their source, counters,
// notes.
import { Bar } from "./bar";
import { sumOf } from "./classes";
import type { Hot, Process, Region, Row, Source } from "./data";
import { base, code, count, percent, seconds, titleOf } from "./format";
import { Table, type Column } from "./table";

export function Panel({ p, r }: { p: Process; r: Region }) {
  return (
    <div class="panelbody">
      {r.notes && <ul class="notes">{r.notes.map((n) => <li key={n}>{n}</li>)}</ul>}
      {r.mark === "~" && <p>~ marks figures that are extrapolated in part: the region was not observed all of the time.</p>}
      {r.mark === "+" && <p>+ marks figures of what was observed: more was executed, and how much is not known.</p>}
      {r.rows ? <ByThread p={p} r={r} rows={r.rows} /> : <p class="muted">Rows by thread are left out of this page for regions that take little: the text report has them.</p>}
      <Paths p={p} r={r} />
      <Code p={p} r={r} />
      <Counters p={p} r={r} />
    </div>
  );
}

function ByThread({ p, r, rows }: { p: Process; r: Region; rows: Row[] }) {
  const longest = Math.max(1, ...rows.map((x) => sumOf(x.own)));
  const label = (x: Row) => p.threads[x.thread]!.label;
  const time = (title: string, of: (x: Row) => number | undefined, tip: string): Column<Row>[] =>
    rows.some((x) => of(x)) ? [{ title, cell: (x) => seconds(of(x) ?? 0), by: (x) => of(x) ?? 0, number: true, tip }] : [];
  const columns: Column<Row>[] = [
    { title: "Thread", cell: label, by: (x) => x.thread },
    { title: "Exclusive time by part", cell: (x) => <Bar parts={x.own} scale={longest} label={`Thread ${label(x)}`} mark={r.mark} />, class: "barcell" },
    { title: "Exclusive", cell: (x) => seconds(sumOf(x.own)), by: (x) => sumOf(x.own), number: true, tip: "Without the regions inside" },
    ...time("Inclusive", (x) => x.exec, "execT: the whole construct, with the regions inside"),
    ...time("Enter", (x) => x.enter, "enterT or startupT: waiting to get in, or starting the team"),
    ...time("Body", (x) => x.body, "bodyT: the inner part"),
    ...time("Barrier", (x) => x.barrier, "exitBarT: the implicit barrier"),
    ...time("Exit", (x) => x.exit, "exitT or shutdwnT: leaving"),
    ...time("MPI", (x) => x.mpi, "mpiT: in MPI calls, those of inner regions included"),
    { title: "Executions", cell: (x) => count(x.count), by: (x) => x.count, number: true, tip: "execC" },
  ];
  return <div><h3>By thread</h3><Table rows={rows} columns={columns} id={(x) => x.thread} sort={0} ascending label={`Threads in ${code(r.region)}`} /></div>;
}

const fewPaths = 12;

function Paths({ p, r }: { p: Process; r: Region }) {
  const all = p.nodes.map((n, i) => ({ n, i })).filter((x) => x.n.region === r.region).sort((a, b) => b.n.width_ns - a.n.width_ns);
  const way = (i: number) => {
    const names: string[] = [];
    for (let at = p.nodes[i]!.parent; at > 0; at = p.nodes[at]!.parent) {
      const x = p.regions[p.nodes[at]!.region - 1]!;
      names.unshift(titleOf(x, x.place));
    }
    return [p.head.program, ...names].join(" > ");
  };
  return (
    <div>
      <h3>{all.length > 1 ? `Called on ${all.length} paths` : "Called from"}</h3>
      <table><tbody>{all.slice(0, fewPaths).map(({ n, i }) => (
        <tr key={i}><td class="place">{way(i)}</td><td class="n">{seconds(n.width_ns)}</td><td class="n">{count(n.execs)} executions</td></tr>
      ))}</tbody></table>
      {all.length > fewPaths && <p class="muted small">and {all.length - fewPaths} more paths, each with less time</p>}
    </div>
  );
}

function Code({ p, r }: { p: Process; r: Region }) {
  const source = p.sources?.find((s) => s.file === r.file);
  return (
    <>
      {r.hot && <HotLines hot={r.hot} />}
      {source && r.begin && <Listing source={source} r={r} />}
    </>
  );
}

function HotLines({ hot }: { hot: Hot }) {
  const phases = Object.entries(hot.phases).sort((a, b) => b[1] - a[1]).map(([name, w]) => `${name} ${percent(w / hot.weight)}`);
  return (
    <div>
      <h3>Hottest lines <span class="muted">(sampled; by phase: {phases.join(", ")})</span></h3>
      <table><tbody>{hot.lines.slice(0, 8).map((l) => (
        <tr key={l.text}><td class="n" style="width:6rem">~{percent(l.weight / hot.weight)}</td><td class="place">{l.text}</td></tr>
      ))}</tbody></table>
    </div>
  );
}

function Listing({ source, r }: { source: Source; r: Region }) {
  if (source.missing && Object.keys(source.lines).length === 0) {
    return <p class="muted small">The source text of {source.file} is not here: {source.missing}.</p>;
  }
  const weight = new Map<number, number>();
  for (const l of r.hot?.lines ?? []) if (l.file === source.file && l.line) weight.set(l.line, (weight.get(l.line) ?? 0) + l.weight);
  const numbers = new Set<number>(weight.keys());
  for (let n = r.begin!; n <= Math.max(r.begin!, r.end ?? 0) && n < r.begin! + 60; n++) numbers.add(n);
  const lines = [...numbers].sort((a, b) => a - b).filter((n) => source.lines[n] !== undefined);
  if (lines.length === 0) return null;
  return (
    <div>
      <h3>{base(source.file)}{weight.size > 0 && <span class="muted"> (share of the region's samples at the left)</span>}</h3>
      <pre class="source" tabindex={0}>{lines.map((n) => {
        const w = weight.get(n);
        return <div key={n} class={w ? "hot" : undefined}><span class="w">{w ? `~${percent(w / r.hot!.weight)}` : ""}</span><span class="l">{n}</span><span>{source.lines[n]}</span></div>;
      })}</pre>
    </div>
  );
}

function Counters({ p, r }: { p: Process; r: Region }) {
  if (!r.counters || !p.counters) return null;
  return (
    <div>
      <h3>Counters <span class="muted">(inclusive{r.counters_lack ? `; they lack ${count(r.counters_lack)} executions` : ""})</span></h3>
      <table><tbody>{p.counters.map((c) => (
        <tr key={c.name}><td>{c.name}</td><td class="n">{c.failed ? "-" : `${(c.running ?? 1) < 1 ? "~" : ""}${count(r.counters![c.name] ?? 0)}`}</td><td class="muted">{c.failed ?? c.unit}</td></tr>
      ))}</tbody></table>
    </div>
  );
}
