// The page of a process.
import { useState } from "preact/hooks";
import { CallSites } from "./callsites";
import { MessageSizes, total } from "./sizes";
import { overheadOf, sumOf } from "./classes";
import type { Parts, Process, Row } from "./data";
import { EfficiencyTree } from "./efficiency";
import { count, estimate, percent, plural, seconds, titleOf } from "./format";
import { Findings, Frame, Notes, Section, Tile, Whole } from "./frame";
import { Heat, type HeatChoice } from "./heat";
import { Icicle } from "./icicle";
import { Regions } from "./regions";
import { Strip } from "./strip";
import { Threads } from "./threads";
import { ThreeTrees } from "./trees";
import { Levels, When } from "./when";

export function ProcessPage({ p }: { p: Process }) {
  const [open, setOpen] = useState<string | number>();
  const show = (region: number) => {
    setOpen(region);
    requestAnimationFrame(() => document.getElementById(`row-${region}`)?.scrollIntoView({ block: "center" }));
  };
  const h = p.head;
  const calls = p.regions.filter((r) => r.construct === "MPI");
  const sections: [string, string][] = [["overview", "Overview"], ["findings", "Findings"], ["regions", "Regions"], ["paths", "Call paths"], ...(p.trees ? [["trees", "Three trees"] as [string, string]] : []), ["threads", "Threads"], ...(p.when || p.strip ? [["when", "When"] as [string, string]] : [])];
  if (calls.length > 0) sections.push(["mpi", "MPI"]);
  sections.push(["measurement", "The measurement"]);
  return (
    <Frame title={h.program} sections={sections}>
      <Head p={p} />
      {p.regions.length > 0 && <Section id="efficiency" title="How well it runs"><EfficiencyTree root={p.efficiency} untold={p.untold} open={show} name={(r) => nodeName(p, r)} /></Section>}
      <Section id="findings" title="What costs time, and what helps"
        lede={p.findings.length > 0 ? "The worst first. Shares are of all threads' time." : p.untold ? "" : "No property costs a thousandth of the time."}>
        <Findings of={p.findings} small={p.small} open={show} />
      </Section>
      <Section id="regions" title="Where the time goes"
        lede="Every construct at its place in the source. Exclusive time, without the regions inside, and summed over threads. A row opens.">
        <Regions p={p} opened={open} onOpen={setOpen} />
      </Section>
      <Section id="paths" title="On which call paths">
        <Icicle nodes={p.nodes} name={(r) => nodeName(p, r)} open={show} />
      </Section>
      {p.trees && (
        <Section id="trees" title="What, on which call path, and where">
          <ThreeTrees trees={p.trees} name={(r) => nodeName(p, r)} open={show} />
        </Section>
      )}
      <Section id="threads" title="Are the threads alike?">
        <Threads p={p} />
        <Heat title={(row) => `Threads differ most in ${row}`} alike="Threads are alike in all regions" who="thread"
          columns={p.threads.map((t) => t.label)} caption="Exclusive time of each thread in each region, as a share of the row's greatest. Rows that deviate most are on top."
          choices={[heat(p, "Work", (own) => own.work ?? 0), heat(p, "Overhead", overheadOf), heat(p, "All time", sumOf)]} />
      </Section>
      {(p.when || p.strip) && (
        <Section id="when" title="When, and in what order">
          {p.strip && <Strip strip={p.strip} who="thread" />}
          {p.when && <When picture={p.when} />}
          {p.when && <Levels picture={p.when} />}
        </Section>
      )}
      {calls.length > 0 && (
        <Section id="mpi" title="What MPI takes" lede={`Call sites of MPI. Bytes by the ${h.accounting} accounting.`}>
          <CallSites p={p} calls={calls} />
          {calls.some((r) => r.mpi?.sizes) && <MessageSizes sites={[{ name: "All call sites", sizes: total(calls.flatMap((r) => r.mpi?.sizes ?? [])) },
            ...calls.filter((r) => r.mpi?.sizes).map((r) => ({ name: titleOf(r, r.place), sizes: r.mpi!.sizes! }))]} />}
        </Section>
      )}
      <Section id="measurement" title="The measurement itself" lede="What measuring cost, what was lost, what could not be seen, and how to read the figures.">
        <div class="card"><dl>{p.facts.map((f) => [<dt key={f.name}>{f.name}</dt>, <dd>{f.text}</dd>])}</dl></div>
        <Notes of={p.notes} />
      </Section>
      <footer>Written by ompp-attach {h.tool} from the recorded profile. This page holds its figures and loads nothing.</footer>
    </Frame>
  );
}

function heat(p: Process, name: string, of: (own: Parts) => number): HeatChoice {
  const values = (rows: Row[]) => {
    const out = new Array<number | undefined>(p.threads.length).fill(undefined);
    for (const r of rows) out[r.thread] = of(r.own);
    return out;
  };
  return { name, rows: p.regions.filter((r) => r.rows && r.rows.length > 1).map((r) => ({ name: titleOf(r, r.place), values: values(r.rows!) })) };
}

const nodeName = (p: Process, region: number) => {
  if (region === 0) return p.head.program;
  const r = p.regions[region - 1]!;
  return titleOf(r, r.place);
};

function Head({ p }: { p: Process }) {
  const h = p.head;
  return (
    <header class="head" id="overview">
      <p class="eyebrow">ompp-attach{h.rank !== undefined && ` - rank ${h.rank} of ${h.size}`}</p>
      <h1>{h.program}</h1>
      <p class="lede">
        {h.args && h.args.length > 0 && <><code>{h.args.join(" ")}</code> </>}
        {h.attached ? "measured while it ran" : "measured"} on {h.host}, {new Date(h.start).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })}{h.runtimes.length > 0 && `, with ${h.runtimes.join(", ")}`}.
        {" "}{h.ended && `It ended: ${h.ended}.`}
      </p>
      {h.snapshot && <p class="banner">This is a snapshot: the measurement went on, and what came later is missing.</p>}
      {h.lost_events > 0 && <p class="banner">{plural(h.lost_events, "event")} of {count(h.hits + h.lost_events)} were lost. Counts are too low and times incomplete where that was: see <a href="#measurement">the measurement</a>.</p>}
      {p.rough?.map((s) => <p key={s} class="banner">{s}</p>)}
      <div class="tiles">
        <Tile name="Wall time" value={seconds(h.wall_ns)} />
        <Tile name="Threads" value={count(h.threads)} more={`${seconds(h.thread_ns)} of thread time`} />
        <Tile name="In parallel regions" value={h.parallel_coverage === null ? "none seen" : percent(h.parallel_coverage)}
          more={h.parallel_coverage === null ? "nothing of OpenMP was seen" : "of the wall time"} />
        <Tile name="Probes took" value={h.probe_ns === null ? "not known" : estimate(h.probe_lowered, percent(h.probe_share))}
          more={h.probe_ns === null ? undefined : `of processor time (${estimate(h.probe_lowered, seconds(h.probe_ns))})${h.adjusted ? ", taken out of all times" : ", in the times below"}`} />
      </div>
      <Whole parts={p.whole} caption="All threads' time by class. The full width is the wall time of all threads. Serial code and idle workers are derived: what is left beside all regions." />
    </header>
  );
}
