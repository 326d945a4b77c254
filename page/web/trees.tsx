// Three linked trees, as EXPERT and Cube have them: properties, call paths, machine to thread. A
// collapsed row is inclusive, an expanded one exclusive. A tree shows how the selection in the trees
// before it is distributed.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TreeFinding, Trees } from "./data";
import { Figure } from "./figure";
import { bytes, code, count, percent, seconds } from "./format";

type Mode = "value" | "time" | "selection";
interface Row { id: number; depth: number; leaf: boolean; open: boolean; value: number }
interface Branch { parent: number }

const rowHeight = 28, most = 15; // pixels; rows that a tree shows at once
const few = 40; // locations that are all shown at first
const units: Record<string, (v: number) => string> = { sec: seconds, bytes };
const print = (unit: string, v: number) => (units[unit] ?? count)(v);

// Shape holds the links between the branches of a tree.
class Shape {
  kids: number[][];
  constructor(readonly of: Branch[]) {
    this.kids = of.map(() => []);
    of.forEach((b, i) => { if (b.parent >= 0) this.kids[b.parent]!.push(i); });
  }
  // below tells for each branch whether it is the branch top, or below that branch.
  below(top: number): boolean[] {
    const out: boolean[] = [];
    this.of.forEach((b, i) => out.push(i === top || (b.parent >= 0 && out[b.parent]!)));
    return out;
  }
  inclusive(own: number[]): number[] {
    const sum = own.slice();
    for (let i = sum.length - 1; i > 0; i--) { const up = this.of[i]!.parent; if (up >= 0) sum[up]! += sum[i]!; }
    return sum;
  }
  rows(own: number[], open: Set<number>): Row[] {
    const all = this.inclusive(own), out: Row[] = [];
    const walk = (i: number, depth: number) => {
      const leaf = this.kids[i]!.length === 0, opened = !leaf && open.has(i);
      out.push({ id: i, depth, leaf, open: opened, value: opened ? own[i]! : all[i]! });
      if (opened) this.kids[i]!.forEach((k) => walk(k, depth + 1));
    };
    this.of.forEach((b, i) => { if (b.parent < 0) walk(i, 0); });
    return out;
  }
  // above lists the branches above branch i.
  above(i: number): number[] {
    const out: number[] = [];
    for (let up = this.of[i]!.parent; up >= 0; up = this.of[up]!.parent) out.push(up);
    return out;
  }
}

export function ThreeTrees({ trees, name, open }: { trees: Trees; name: (region: number) => string; open: (region: number) => void }) {
  const shapes = useMemo(() => [new Shape(trees.properties), new Shape(trees.paths), new Shape(trees.locations)] as const, [trees]);
  const worst = trees.worst ?? [0, 0];
  const [selected, select] = useState<[number, number, number]>([worst[0], worst[1], 0]);
  const [opened, setOpened] = useState<Set<number>[]>(() => [
    new Set(shapes[0].above(worst[0])), new Set([worst[1], ...shapes[1].above(worst[1])]), new Set(trees.locations.flatMap((l, i) => (l.parent < 0 || trees.locations.length <= few ? [i] : []))),
  ]);
  const [mode, setMode] = useState<Mode>("value");

  // chosen tells which branches of a tree a selection stands for. An expanded branch stands for
  // itself, a collapsed one also for those below it.
  const chosen = (tree: number, i: number) => {
    const shape = shapes[tree]!;
    return opened[tree]!.has(i) && shape.kids[i]!.length > 0 ? shape.of.map((_, k) => k === i) : shape.below(i);
  };
  const v = trees.values;
  const own = useMemo(() => {
    const out = shapes.map((s) => s.of.map(() => 0));
    const property = chosen(0, selected[0]), path = chosen(1, selected[1]);
    for (let i = 0; i < v.length; i += 4) {
      const [p, c, l, t] = [v[i]!, v[i + 1]!, v[i + 2]!, v[i + 3]!];
      out[0]![p]! += t;
      if (!property[p]) continue;
      out[1]![c]! += t;
      if (path[c]) out[2]![l]! += t;
    }
    return out;
  }, [trees, selected, opened]);

  const unit = trees.properties[selected[0]]!.unit;
  const totals = own.map((of) => of.reduce((a, b) => a + b, 0));
  const rootOf = (p: number) => shapes[0].above(p).at(-1) ?? p;
  const wholeOf = (p: number) => {
    const top = rootOf(p);
    return trees.properties[top]!.unit === "sec" && top === 0 ? trees.thread_ns : shapes[0].inclusive(own[0]!)[top]!;
  };
  const text = (tree: number, row: Row) => {
    const p = tree === 0 ? row.id : selected[0];
    if (mode === "value") return print(trees.properties[p]!.unit, row.value);
    const of = mode === "time" || tree === 0 ? wholeOf(p) : totals[tree]!;
    return of > 0 ? percent(row.value / of) : "-";
  };
  const names = [
    (i: number) => trees.properties[i]!.name,
    (i: number) => name(trees.paths[i]!.region),
    (i: number) => trees.locations[i]!.name,
  ];
  const toggle = (tree: number, i: number) => setOpened(opened.map((s, k) => {
    if (k !== tree) return s;
    const n = new Set(s);
    if (!n.delete(i)) n.add(i);
    return n;
  }));
  const choose = (tree: number, i: number) => select(selected.map((s, k) => (k === tree ? i : s)) as [number, number, number]);

  const found = findingsOf(trees, shapes[0], (i) => chosen(0, i), selected[0], chosen(1, selected[1]));
  const everywhere = selected[1] === 0 && !opened[1]!.has(0);
  const saves = everywhere ? trees.properties[selected[0]] : found.length === 1 ? found[0] : undefined;
  const p = trees.properties[selected[0]]!, pathTotal = totals[2]!;
  const title = trees.worst
    ? `${trees.properties[worst[0]]!.ompp ?? trees.properties[worst[0]]!.name} in ${names[1]!(worst[1])} costs most`
    : "No property costs time";
  const titles = ["Property", "Call path", "Machine, process, thread"];
  return (
    <Figure title={title} caption="What time was spent on, on which call path, and where. Select a row: the trees that follow show how it is distributed. A collapsed row is inclusive; an expanded one has what those below it have not. Arrows move; left and right collapse and expand.">
      <div class="tools">
        {(["value", "time", "selection"] as const).map((m) => (
          <button key={m} type="button" aria-pressed={mode === m} onClick={() => setMode(m)}>{{ value: "Values", time: "% of all", selection: "% of selection" }[m]}</button>
        ))}
        {trees.coarse && <span class="muted small">Values are those of {trees.coarse === "run" ? "the whole run" : "whole processes"}: there are too many.</span>}
      </div>
      <div class="trees">
        {shapes.map((shape, tree) => (
          <Column key={tree} title={titles[tree]!} rows={shape.rows(own[tree]!, opened[tree]!)} selected={selected[tree]!} name={names[tree]!} text={(r) => text(tree, r)}
            same={(i) => tree > 0 || rootOf(i) === rootOf(selected[0])} toggle={(i) => toggle(tree, i)} choose={(i) => choose(tree, i)} parent={(i) => shape.of[i]!.parent} />
        ))}
      </div>
      <p aria-live="polite"><b>{p.ompp && p.ompp.toLowerCase() !== p.name.toLowerCase().replaceAll(" ", "") ? `${p.name} (${p.ompp})` : p.name}</b>, {print(unit, pathTotal)} in {names[1]!(selected[1])}. {p.text}{" "}
        {trees.paths[selected[1]]!.region > 0 && <a href="#regions" onClick={() => open(trees.paths[selected[1]]!.region)}>{code(trees.paths[selected[1]]!.region)}</a>}</p>
      <Due due={found} name={names[1]!} go={(path) => trees.paths[path]!.region > 0 && open(trees.paths[path]!.region)} />
      {p.helps && <p><span class="muted">What helps: </span>{p.helps}</p>}
      {saves && saves.saves_ns !== undefined && <p><span class="muted">Mending this saves: </span>at most {seconds(saves.saves_ns)} of {saves.of}.</p>}
      {trees.notes && <details class="numbers"><summary>What was matched between ranks</summary><ul>{trees.notes.map((n) => <li key={n}>{n}</li>)}</ul></details>}
    </Figure>
  );
}

// findingsOf lists the findings of the selected properties and paths. If a property is only a part
// of a finding, it has no findings of its own: then those of the next property above are listed.
function findingsOf(trees: Trees, shape: Shape, chosen: (i: number) => boolean[], property: number, path: boolean[]): TreeFinding[] {
  const all = (trees.findings ?? []).filter((f) => path[f.path]);
  for (const at of [property, ...shape.above(property)]) {
    const of = at === property ? chosen(at) : shape.of.map((_, i) => i === at);
    const found = all.filter((f) => of[f.property]);
    if (found.length > 0) return found;
  }
  return [];
}

const mostDue = 6;

// Due lists the threads or ranks for which others waited.
function Due({ due, name, go }: { due: TreeFinding[]; name: (path: number) => string; go: (path: number) => void }) {
  type Row = { who: string; did: string; at: number; from: number; ns: number; bound: number; times: number };
  const rows = new Map<string, Row>();
  let more = 0;
  for (const f of due) {
    more += f.more ?? 0;
    for (const d of f.due ?? []) {
      const key = [d.who, d.did, d.at, d.from].join("|");
      const row = rows.get(key) ?? { who: d.who, did: d.did, at: d.at, from: d.from ?? 0, ns: 0, bound: 0, times: 0 };
      row.ns += d.ns; row.bound += d.bound_ns ?? 0; row.times += d.times ?? 0;
      rows.set(key, row);
    }
  }
  const sorted = [...rows.values()].sort((a, b) => b.ns - a.ns);
  more += Math.max(0, sorted.length - mostDue);
  if (sorted.length === 0) return null;
  const place = (path: number) => <a href="#regions" onClick={() => go(path)}>{name(path)}</a>;
  return (
    <div class="scroll">
      <table class="due">
        <caption>Due to</caption>
        <thead><tr><th scope="col">Who</th><th scope="col">Where</th><th scope="col" class="n">Others waited</th><th scope="col" class="n">Times</th></tr></thead>
        <tbody>
          {sorted.slice(0, mostDue).map((d) => (
            <tr key={d.who + d.did + d.at}>
              <td>{d.who} {d.did}</td>
              <td>{place(d.at)}{d.from > 0 && <span>, from {place(d.from)}</span>}</td>
              <td class="n">{seconds(d.ns)}{d.bound > 0 && ` ± ${seconds(d.bound)}`}</td><td class="n">{d.times > 0 ? count(d.times) : ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p class="muted small">... and {count(more)} more.</p>}
    </div>
  );
}

interface ColumnProps {
  title: string; rows: Row[]; selected: number; name: (i: number) => string; text: (r: Row) => string;
  same: (i: number) => boolean; // the row's values can be compared with those of the selected row
  toggle: (i: number) => void; choose: (i: number) => void; parent: (i: number) => number;
}

// Column draws the rows of a tree that are in view.
function Column({ title, rows, selected, name, text, same, toggle, choose, parent }: ColumnProps) {
  const [top, setTop] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const at = Math.max(0, rows.findIndex((r) => r.id === selected));
  useEffect(() => { // the selection stays in view
    const b = box.current;
    if (b && (at * rowHeight < b.scrollTop || (at + 1) * rowHeight > b.scrollTop + b.clientHeight)) b.scrollTop = (at - 3) * rowHeight;
  }, [selected]);
  const greatest = Math.max(1, ...rows.filter((r) => same(r.id)).map((r) => Math.abs(r.value)));
  const first = Math.max(0, Math.floor(top / rowHeight) - 2), shown = rows.slice(first, first + most + 6);
  const key = (e: KeyboardEvent) => {
    const row = rows[at];
    if (!row) return;
    const go = (i: number | undefined) => { if (i !== undefined) choose(i); };
    switch (e.key) {
      case "ArrowDown": go(rows[at + 1]?.id); break;
      case "ArrowUp": go(rows[at - 1]?.id); break;
      case "Home": go(rows[0]?.id); break;
      case "End": go(rows.at(-1)?.id); break;
      case "ArrowRight": if (row.open || row.leaf) go(row.leaf ? undefined : rows[at + 1]?.id); else toggle(row.id); break;
      case "ArrowLeft": if (row.open) toggle(row.id); else if (parent(row.id) >= 0) go(parent(row.id)); break;
      default: return;
    }
    e.preventDefault();
  };
  const id = (i: number) => `${title.split(",")[0]!.replace(" ", "-").toLowerCase()}-${i}`;
  return (
    <div class="column">
      <h4>{title}</h4>
      <div ref={box} class="rows" role="tree" aria-label={title} tabindex={0} aria-activedescendant={rows[at] && id(rows[at]!.id)} onKeyDown={key}
        onScroll={(e) => setTop(e.currentTarget.scrollTop)} style={`max-height:${most * rowHeight + 2}px`}>
        <div role="presentation" style={`height:${rows.length * rowHeight}px;padding-top:${first * rowHeight}px`}>
          {shown.map((r) => (
            <div key={r.id} id={id(r.id)} role="treeitem" aria-level={r.depth + 1} aria-selected={r.id === selected} aria-expanded={r.leaf ? undefined : r.open}
              class={`trow${r.value === 0 ? " none" : ""}`} style={`padding-left:${r.depth * 14}px`} data-tip={name(r.id)} onClick={() => choose(r.id)}>
              <span class={r.leaf ? "twist" : r.open ? "twist open" : "twist shut"} aria-hidden="true" onClick={(e) => { if (!r.leaf) { e.stopPropagation(); toggle(r.id); } }} />
              <span class="square" aria-hidden="true" style={`--w:${same(r.id) ? Math.round((100 * Math.abs(r.value)) / greatest) : 0}%`} />
              <span class="tval">{text(r)}</span>
              <span class="tname">{name(r.id)}</span>
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
