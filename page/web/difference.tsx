// The page of the difference of two sides.
import { useState } from "preact/hooks";
import { Bar, Keys } from "./bar";
import { about, amount, chance, type Change, type Comparison, type Difference, partsOfProgram, quantity, ratio, signed, spread,
  type Unit } from "./change";
import { classes, inSentence, sumOf } from "./classes";
import type { PartKey } from "./data";
import { DiffIcicle } from "./difficicle";
import { DiffRegions } from "./diffregions";
import { Figure } from "./figure";
import { plural, seconds } from "./format";
import { Frame, Notes, Section, Tile } from "./frame";
import { Table } from "./table";

export function DifferencePage({ d }: { d: Difference }) {
  const c = d.figures;
  const [open, setOpen] = useState<string | number>();
  const show = (region: number) => {
    setOpen(region);
    requestAnimationFrame(() => document.getElementById(`row-${region}`)?.scrollIntoView({ block: "center" }));
  };
  const calls = c.regions.map((r, i) => ({ r, i })).filter(({ r }) => (r.figures.calls?.a.median ?? 0) > 0 || (r.figures.calls?.b.median ?? 0) > 0);
  const counters = c.regions.flatMap((r, i) => Object.entries(r.counters ?? {}).map(([name, x]) => ({ i, name, x, title: r.title })));
  const sections: [string, string][] = [["overview", "Overview"], ["findings", "Findings"], ["regions", "Regions"], ["paths", "Call paths"]];
  if (calls.length > 0) sections.push(["mpi", "MPI"]);
  if (counters.length > 0) sections.push(["counters", "Counters"]);
  sections.push(["comparison", "The comparison"]);
  return (
    <Frame title="A and B" sections={sections}>
      <Head c={c} />
      <Section id="findings" title="What is more than noise" lede={c.tested ?? untested(c)}>
        {c.findings.length === 0 && c.tests > 0 && <p class="card">{c.headline}</p>}
        {c.findings.length > 0 && <ol class="card plainlist">{c.findings.map((f) => (
          <li key={f.says}>{f.says} {f.region >= 0 && <a href="#regions" onClick={() => show(f.region)}>Open the region</a>}</li>
        ))}</ol>}
      </Section>
      <Section id="regions" title="Which regions differ">
        <DiffRegions c={c} opened={open} onOpen={setOpen} />
      </Section>
      <Section id="paths" title="On which call paths">
        <DiffIcicle c={c} open={show} />
      </Section>
      {calls.length > 0 && (
        <Section id="mpi" title="What MPI sends and receives" lede={`Regions with MPI calls inside, over all ranks. Bytes by the ${c.accounting} accounting.`}>
          <Figure title={volumeTitle(c)} caption="Medians of the repeats: A, then B.">
            <Table rows={calls} id={({ i }) => i} label="Volumes of MPI" sort={3} text={({ r }) => r.title} columns={[
              { title: "Region", cell: ({ r, i }) => <a href="#regions" onClick={() => show(i)}>{r.title}</a>, class: "place" },
              { title: "Calls", cell: ({ r }) => both(r.figures.calls, "count"), by: ({ r }) => r.figures.calls?.b.median ?? 0, number: true },
              { title: "Sent", cell: ({ r }) => both(volume(c, r.figures, "outV"), "bytes"), by: ({ r }) => volume(c, r.figures, "outV")?.b.median ?? 0, number: true },
              { title: "Received", cell: ({ r }) => both(volume(c, r.figures, "inV"), "bytes"), by: ({ r }) => volume(c, r.figures, "inV")?.b.median ?? 0, number: true },
              { title: "Time in MPI", cell: ({ r }) => both(r.figures.mpiT, "ns"), by: ({ r }) => r.figures.mpiT?.b.median ?? 0, number: true },
            ]} />
          </Figure>
        </Section>
      )}
      {counters.length > 0 && (
        <Section id="counters" title="What the processors counted">
          <Figure title={counterTitle(counters)} caption="Performance counters of regions, inner regions included, over all threads. Medians of the repeats.">
            <Table rows={counters} id={(x) => `${x.i} ${x.name}`} label="Performance counters" sort={4} text={(x) => `${x.title} ${x.name}`} columns={[
              { title: "Region", cell: (x) => <a href="#regions" onClick={() => show(x.i)}>{x.title}</a>, class: "place" },
              { title: "Counter", cell: (x) => x.name, by: (x) => x.name },
              { title: "A", cell: (x) => amount(x.x.a.median, "count"), by: (x) => x.x.a.median, number: true },
              { title: "B", cell: (x) => amount(x.x.b.median, "count"), by: (x) => x.x.b.median, number: true },
              { title: "Change", cell: (x) => ratio(x.x), by: (x) => Math.abs(x.x.ratio ?? 0), number: true },
              { title: "p", cell: (x) => chance(x.x), by: (x) => x.x.p ?? 1, number: true },
            ]} />
          </Figure>
        </Section>
      )}
      <Section id="comparison" title="The comparison itself" lede="What was compared with what, and what the sides do not have in common.">
        <div class="card"><Table rows={c.sides.flatMap((s, i) => s.runs.map((run, k) => ({ run, side: "AB"[i]!, k })))} id={(x) => `${x.side}${x.k}`} label="Runs" columns={[
          { title: "Side", cell: (x) => x.side },
          { title: "Run", cell: (x) => x.run.name, class: "place" },
          { title: "Program", cell: (x) => x.run.programs.join(", "), class: "place" },
          { title: "Processes and threads", cell: (x) => x.run.width },
          { title: "Wall time", cell: (x) => seconds(quantity(c, "wall")[x.side === "A" ? "a" : "b"].values[x.k] ?? 0), number: true },
        ]} /></div>
        <Notes of={c.notes.length > 0 ? [{ items: c.notes }] : []} />
      </Section>
      <footer>Written by ompp-attach diff from the recorded profiles. This page holds its figures and loads nothing.</footer>
    </Frame>
  );
}

const repeats = (c: Comparison) => c.sides.map((s) => s.runs.length);

function untested(c: Comparison): string {
  const [a, b] = repeats(c);
  return `Not known: there are ${a} and ${b} runs. To tell a change from noise takes repeats, here ${c.repeats_needed} of each side. The spread over threads or ranks is no substitute.`;
}

function both(x: Change | undefined, unit: Unit) {
  if (!x) return "-";
  const a = amount(x.a.median, unit), b = amount(x.b.median, unit);
  return <span data-tip={about(x, unit)}>{a === b ? a : `${a} → ${b}`}</span>;
}

const volume = (c: Comparison, figures: Record<string, Change>, name: string) => figures[`${name}_${c.accounting}`];

function volumeTitle(c: Comparison): string {
  const x = quantity(c, "bytes"), n = quantity(c, "calls");
  const calls = n.delta === 0 ? `as many calls as A (${amount(n.b.median, "count")})` : `${signed(n.delta, "count")} calls (${ratio(n)})`;
  if (x.a.median === 0 && x.b.median === 0) return `B makes ${calls}, and neither side sends or receives`;
  return x.delta === 0 ? `B moves as many bytes as A: ${amount(x.b.median, "bytes")}, with ${calls}`
    : `B moves ${x.delta > 0 ? "more" : "fewer"} bytes than A: ${signed(x.delta, "bytes")} (${ratio(x)}), with ${calls}`;
}

function counterTitle(all: { title: string; name: string; x: Change }[]): string {
  const kept = all.filter((x) => x.x.a.median > 0 && x.x.b.median > 0);
  const most = (kept.length > 0 ? kept : all).reduce((m, x) => (Math.abs(x.x.ratio ?? 0) > Math.abs(m.x.ratio ?? 0) ? x : m));
  return most.x.ratio ? `${most.name} changed most in ${most.title}: ${ratio(most.x)}` : "No counter differs";
}

function Head({ c }: { c: Comparison }) {
  const tile = (name: string, of: string) => {
    const q = quantity(c, of);
    return <Tile name={name} value={ratio(q)} more={`${spread(q.a, q.unit)} → ${spread(q.b, q.unit)}${q.p === null ? "" : `, p ${chance(q)}`}`} />;
  };
  const sides = c.sides.map((s, i) => {
    const names = s.runs.map((r) => r.name), programs = [...new Set(s.runs.flatMap((r) => r.programs))];
    const few = names.length > 4 ? [...names.slice(0, 3), `${names.length - 3} more`] : names;
    return <p key={i} class="lede"><b>{"AB"[i]}</b> <code>{few.join(", ")}</code> ({plural(names.length, "run")} of {programs.join(", ")}, {s.runs[0]!.width})</p>;
  });
  return (
    <header class="head" id="overview">
      <p class="eyebrow">ompp-attach - the difference of two sides</p>
      <h1>{c.headline}</h1>
      {sides}
      {c.violations.map((v) => <p key={v.sentence} class="banner">{v.sentence}.</p>)}
      {c.tests === 0 && <p class="banner">{untested(c)}</p>}
      <div class="tiles">{tile("Wall time", "wall")}{tile("Time of all threads", "threads")}{tile("Work in regions", "work")}{tile("Overhead", "overhead")}</div>
      <Classes c={c} />
    </header>
  );
}

// Classes draws all threads' time of both sides, by class, in one scale.
function Classes({ c }: { c: Comparison }) {
  const a = partsOfProgram(c, "a"), b = partsOfProgram(c, "b");
  const scale = Math.max(sumOf(a), sumOf(b));
  const delta = (k: PartKey) => (b[k] ?? 0) - (a[k] ?? 0);
  const most = classes.reduce((m, x) => (Math.abs(delta(x.key)) > Math.abs(delta(m.key)) ? x : m));
  const d = delta(most.key);
  const title = d === 0 ? "No class of time differs" : `Of the classes of time, ${inSentence(most.key)} differs most: ${signed(d, "ns")}`;
  return (
    <Figure top title={title} caption="All threads' time by class, A above B, in one scale; medians of the repeats. Serial code and idle workers are derived: what is left beside all regions."
      numbers={() => (
        <Table rows={c.program.filter((q) => q.a.median !== 0 || q.b.median !== 0)} id={(q) => q.name} label="Figures of the whole program" columns={[
          { title: "Figure", cell: (q) => q.name },
          { title: "A", cell: (q) => spread(q.a, q.unit), number: true },
          { title: "B", cell: (q) => spread(q.b, q.unit), number: true },
          { title: "Difference", cell: (q) => signed(q.delta, q.unit), number: true },
          { title: "Part of A", cell: (q) => ratio(q), number: true },
          { title: "p", cell: (q) => `${chance(q)}${q.significant ? " *" : ""}`, number: true },
        ]} />
      )}>
      <div class="twobars">
        <b>A</b><Bar parts={a} scale={scale} label="A" /><span>{seconds(quantity(c, "threads").a.median)}</span>
        <b>B</b><Bar parts={b} scale={scale} label="B" /><span>{seconds(quantity(c, "threads").b.median)}</span>
      </div>
      <Keys of={[a, b]} />
    </Figure>
  );
}
