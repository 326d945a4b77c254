// The call paths of a comparison: width is time, colour is the difference.
import { hierarchy, partition, type HierarchyRectangularNode } from "d3-hierarchy";
import { useMemo, useRef, useState } from "preact/hooks";
import { about, amount, type Change, type Comparison, type DiffPath, onlyOn, ratio, signed } from "./change";
import { Figure } from "./figure";
import { count, plural } from "./format";
import { Table } from "./table";
import { useWidth } from "./width";

interface Item { id: number; path: DiffPath; name: string; only?: "new" | "gone"; children: Item[]; own: number; width: number }
type Box = HierarchyRectangularNode<Item>;

const rowHeight = 28, narrow = 2.5; // pixels; narrower boxes are not drawn

// tree makes the items of the paths, linked to each other. The width of an item is its own time, on
// the side with more of it, and the widths of the items below.
function tree(c: Comparison): Item[] {
  const items: Item[] = c.paths.map((path, id) => {
    const r = c.regions[path.region], own = Math.max(path.own.a.median, path.own.b.median);
    return { id, path, name: r ? r.title : "The program", only: r && onlyOn(r), children: [], own, width: own };
  });
  for (let i = items.length - 1; i > 0; i--) {
    const parent = items[items[i]!.path.parent]!;
    parent.children.unshift(items[i]!);
    parent.width += items[i]!.width;
  }
  return items;
}

// pathOnly says that only one side has a path: "new" if the later side, "gone" if the earlier one.
function pathOnly(x: Change): "new" | "gone" | undefined {
  if (x.a.median === 0 && x.b.median > 0) return "new";
  return x.b.median === 0 && x.a.median > 0 ? "gone" : undefined;
}

// shade is the share of the full colour that a change gets. From a change by a half on it is 1.
const shade = (x: Change) => (x.delta === 0 ? 0 : Math.min(1, Math.max(0.06, Math.abs(x.ratio ?? 1) / 0.5)));

export function DiffIcicle({ c, open }: { c: Comparison; open: (region: number) => void }) {
  const items = useMemo(() => tree(c), [c]);
  const [top, setTop] = useState(0);
  const svg = useRef<SVGSVGElement>(null);
  const [around, width] = useWidth<HTMLDivElement>(560);
  const layout = useMemo(() => {
    const root = hierarchy(items[top]!, (i) => i.children).sum((i) => i.own).sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
    return partition<Item>().size([width, (root.height + 1) * rowHeight])(root);
  }, [items, top, width]);
  if (items[0]!.width <= 0) return <p class="card">There is nothing to draw.</p>;
  const all = layout.descendants(), shown = all.filter((d) => d.x1 - d.x0 >= narrow);
  const height = Math.max(...shown.map((d) => d.depth)) + 1;
  const key = (e: KeyboardEvent, d: Box) => {
    const siblings = d.parent?.children ?? [], n = siblings.indexOf(d);
    const next = { ArrowUp: d.parent, ArrowDown: d.children?.[0], ArrowRight: siblings[n + 1], ArrowLeft: siblings[n - 1] }[e.key];
    if (e.key === "Enter" || e.key === " ") setTop(d.data.id);
    else if (e.key === "Escape") setTop(Math.max(0, items[top]!.path.parent));
    else if (!e.key.startsWith("Arrow")) return;
    e.preventDefault();
    if (next) svg.current?.querySelector<SVGElement>(`[data-id="${next.data.id}"]`)?.focus();
  };
  return (
    <Figure title={pathTitle(items)} caption="A box is as wide as the time of all threads on that call path, on the side with more of it. Colour is the difference: orange, B takes longer; blue, less; the fuller, the greater a part of A, up to a half. A click, or Enter, zooms in; Escape zooms out; arrows move."
      numbers={() => (
        <Table rows={items} id={(i) => i.id} sort={3} label="Call paths" text={(i) => spelled(items, i)} columns={[
          { title: "Path", cell: (i) => spelled(items, i), class: "place" },
          { title: "A", cell: (i) => amount(i.path.inclusive.a.median, "ns"), by: (i) => i.path.inclusive.a.median, number: true },
          { title: "B", cell: (i) => amount(i.path.inclusive.b.median, "ns"), by: (i) => i.path.inclusive.b.median, number: true },
          { title: "Difference", cell: (i) => signed(i.path.inclusive.delta, "ns"), by: (i) => Math.abs(i.path.inclusive.delta), number: true },
          { title: "Part of A", cell: (i) => ratio(i.path.inclusive), by: (i) => i.path.inclusive.ratio ?? Infinity, number: true },
          { title: "Own difference", cell: (i) => signed(i.path.own.delta, "ns"), by: (i) => Math.abs(i.path.own.delta), number: true },
        ]} />
      )}>
      {top !== 0 && <div class="tools">
        <button type="button" onClick={() => setTop(0)}>Whole program</button>
        {items[top]!.path.region >= 0 && <a href="#regions" onClick={() => open(items[top]!.path.region)}>Open {items[top]!.name}</a>}
      </div>}
      <div class="scroll" ref={around}><svg ref={svg} class="chart icicle" style="min-width:560px" viewBox={`0 0 ${width} ${height * rowHeight}`} role="tree" aria-label="Call paths, coloured by difference">
        {shown.map((d, i) => {
          const { path, name } = d.data, x = path.inclusive, only = d.data.only ?? (d.data.id === 0 ? undefined : pathOnly(x));
          const w = d.x1 - d.x0, y = d.depth * rowHeight;
          return (
            <g key={d.data.id} class="node" role="treeitem" tabindex={i === 0 ? 0 : -1} data-id={d.data.id} data-delta={x.delta}
              onClick={() => setTop(d.data.id)} onKeyDown={(e) => key(e, d)} aria-label={`${only ? `${only}: ` : ""}${name} ${x.delta !== 0 ? signed(x.delta, "ns") : ""}, ${ratio(x)}`}
              data-tip={`${name}${only ? ` (${only})` : ""}\n${about(x, "ns")}\nown: ${signed(path.own.delta, "ns")} (${ratio(path.own)})`}>
              <rect class={`box ${x.delta > 0 ? "slower" : x.delta < 0 ? "faster" : "same"}${only === "gone" ? " gonebox" : ""}`} style={{ "--shade": `${(60 * shade(x)).toFixed(1)}%` }}
                x={d.x0} y={y} width={w} height={rowHeight - 2} rx="3" />
              {w > 34 && <svg x={d.x0 + 5} y={y} width={w - 8} height={rowHeight}><text y="17.5" font-size="11.5">{only ? `${only}: ` : ""}{name} {x.delta !== 0 && <tspan class="dim">{signed(x.delta, "ns")}</tspan>}</text></svg>}
            </g>
          );
        })}
      </svg></div>
      {all.length > shown.length && <p class="muted small">{count(all.length - shown.length)} more, too narrow to draw: the numbers have all.</p>}
      {c.paths_more > 0 && <p class="muted small">{plural(c.paths_more, "path")} with less time left out.</p>}
      <ul class="legend scale">
        <li>B takes less <i class="ramp" /> more</li>
      </ul>
    </Figure>
  );
}

// pathTitle names the path with the greatest difference of own time.
function pathTitle(items: Item[]): string {
  const most = items.reduce((m, i) => (Math.abs(i.path.own.delta) > Math.abs(m.path.own.delta) ? i : m));
  const x = most.path.own;
  if (x.delta === 0) return "No call path differs";
  return most.id === 0 ? `Serial code differs most: ${signed(x.delta, "ns")} (${ratio(x)})` : `The greatest difference is at ${most.name}: ${signed(x.delta, "ns")} (${ratio(x)})`;
}

function spelled(items: Item[], i: Item): string {
  const names: string[] = [];
  for (let at: Item | undefined = i; at && at.id > 0; at = items[at.path.parent]) names.unshift(at.name);
  return names.join(" > ") || i.name;
}
