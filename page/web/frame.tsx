// The parts that pages of processes and of jobs share: navigation, head, findings, notes.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Bar, Hatch, Legend } from "./bar";
import { inSentence, overheadOf, sumOf, worst } from "./classes";
import type { Finding, Note, Parts } from "./data";
import { Figure } from "./figure";
import { code, percent, plural, seconds } from "./format";

export function Frame({ title, sections, children }: { title: string; sections: [string, string][]; children: ComponentChildren }) {
  return (
    <>
      <a class="skip" href="#overview">Skip to the report</a>
      <Hatch />
      <nav class="top" aria-label="Sections"><div class="wide">
        <b>{title}</b>
        {sections.map(([id, name]) => <a key={id} href={`#${id}`}>{name}</a>)}
      </div></nav>
      <main>{children}</main>
    </>
  );
}

export function Section({ id, title, lede, children }: { id: string; title: string; lede?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {lede && <p class="muted">{lede}</p>}
      {children}
    </section>
  );
}

export function Tile({ name, value, more }: { name: string; value: string; more?: string }) {
  return <div class="tile"><span>{name}</span><b>{value}</b>{more && <small>{more}</small>}</div>;
}

// Whole draws the time of all threads, by class.
export function Whole({ parts, caption }: { parts: Parts; caption: string }) {
  const lost = overheadOf(parts), sum = sumOf(parts), most = worst(parts);
  const title = lost > 0 && most
    ? `${percent(lost / sum)} of all threads' time is overhead, most of it ${inSentence(most)} (${percent(parts[most]! / sum)})`
    : "No overhead was measured";
  return (
    <Figure title={title} caption={caption} top>
      <Bar parts={parts} tall label="All threads" />
      <Legend parts={parts} />
    </Figure>
  );
}

const few = 8;

export function Findings({ of, small, open }: { of: Finding[]; small: number; open: (region: number) => void }) {
  const item = (f: Finding) => (
    <li key={`${f.name} ${f.region} ${f.path ?? ""}`} class={`finding f-${f.class}`}>
      <div class="sev"><b>{percent(f.severity)}</b><span class="muted small">{f.estimated && "~"}{seconds(f.ns)} of all threads' time</span></div>
      <div>
        <h3>{f.says}.</h3>
        <p>
          {f.most && f.least && f.most.ns > f.least.ns && <>Of it, {f.most.label} has most ({seconds(f.most.ns)}), {f.least.label} least ({seconds(f.least.ns)}). </>}
          {f.saves_ns !== undefined && <span data-tip="A bound: mending may save less, as other waits may take its place">Mending it saves at most {seconds(f.saves_ns)} of {f.of}. </span>}
        </p>
        {f.doubt && <p>In doubt: {f.doubt}</p>}
        {f.helps && <p class="helps">{f.helps}</p>}
        <p class="small">{f.region > 0 && <><a href="#regions" onClick={() => open(f.region)}>{code(f.region)}</a> </>}<span class="muted">{f.name}{f.path && `, ${f.path}`}</span></p>
      </div>
    </li>
  );
  const [all, setAll] = useState(false);
  return (
    <>
      <ol class="findings">{(all ? of : of.slice(0, few)).map(item)}</ol>
      {of.length > few && !all && <p><button type="button" class="plainbutton" onClick={() => setAll(true)}>Show all {of.length} findings</button></p>}
      {small > 0 && <p class="muted small">{plural(small, "finding")} of less than 0.1 % of all threads' time: the command report --properties --all lists all.</p>}
    </>
  );
}

export function Notes({ of }: { of: Note[] }) {
  return (
    <div class="notes card">
      {of.map((n) => (
        <div key={n.title ?? n.items?.[0]}>
          {n.title && <h3>{n.title}</h3>}
          {n.items && <ul>{n.items.map((i) => <li key={i}>{i}</li>)}</ul>}
        </div>
      ))}
      {of.length === 0 && <p>Nothing was lost, and nothing needs an explanation.</p>}
    </div>
  );
}
