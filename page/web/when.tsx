// The picture of a timeline: the executions of each thread, and the time of each level.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { nameOf } from "./classes";
import type { PartKey, Picture } from "./data";
import { Figure } from "./figure";
import { count, percent, plural, seconds } from "./format";
import { Table } from "./table";
import { useWidth } from "./width";

interface Box { depth: number; from: number; to: number; name: number; n: number; sum: number }

const names = 150, laneHeight = 15, rowGap = 5, axis = 20, mostLines = 2000;
// The lanes of a row. Executions that lie deeper than mostLanes are drawn in the last lane.
const mostLanes = 24, fewLanes = 60;
const laneOf = (depth: number) => Math.min(depth, mostLanes - 1);

// unpack makes boxes of the page's numbers, the shallow boxes first.
function unpack(numbers: number[]): Box[] {
  const out: Box[] = [];
  let at = 0, lane = -1;
  for (let i = 0; i + 5 < numbers.length; i += 6) {
    const [depth, since, long, name, n, sum] = numbers.slice(i, i + 6) as [number, number, number, number, number, number];
    if (depth !== lane) { at = 0; lane = depth; }
    at += since;
    out.push({ depth, from: at, to: at + long, name, n, sum });
  }
  return out;
}

export function When({ picture: p }: { picture: Picture }) {
  const rows = useMemo(() => p.rows.map((r) => unpack(r.boxes)), [p]);
  const [view, setView] = useState<[number, number]>([0, Math.max(1, p.length_ns)]);
  const [levels, setLevels] = useState(p.rows.length <= 8 && p.rows.reduce((t, r) => t + Math.min(r.depth, mostLanes), 0) <= fewLanes);
  const [chosen, setChosen] = useState<[number, number]>(); // row, box
  const [around, width] = useWidth<HTMLDivElement>(560);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<number | undefined>(undefined);
  const lanes = (row: number) => (levels ? Math.max(1, Math.min(mostLanes, p.rows[row]!.depth)) : 1);
  const tops = useMemo(() => {
    let y = axis;
    return p.rows.map((_, i) => { const top = y; y += lanes(i) * laneHeight + rowGap; return top; }).concat(y);
  }, [p, levels]);
  const height = tops[p.rows.length]!;
  const [from, to] = view, scale = (width - names) / (to - from);
  const x = (t: number) => names + (t - from) * scale;
  const lines = useMemo(() => (p.messages ?? []).filter((m) => m.received >= from && m.sent <= to), [p, from, to]);
  const draw = () => { if (canvas.current) paint(canvas.current, { p, rows, tops, levels, width, height, x, from, to, chosen, lines }); };
  useLayoutEffect(draw);
  useEffect(() => {
    const schemes = [matchMedia("(prefers-color-scheme: dark)"), matchMedia("print")];
    schemes.forEach((s) => s.addEventListener("change", draw));
    return () => schemes.forEach((s) => s.removeEventListener("change", draw));
  });
  if (p.rows.length === 0) return <p class="card">{p.notes?.join(" ") ?? "The timeline holds no execution."}</p>;

  const show = (a: number, b: number) => {
    const long = Math.min(p.length_ns, Math.max(100, b - a)), start = Math.min(Math.max(0, a), p.length_ns - long);
    setView([start, start + long]);
  };
  const zoom = (by: number, middle: number) => show(middle - (middle - from) * by, middle + (to - middle) * by);
  const move = (row: number, i: number) => {
    const box = rows[row]?.[i];
    if (!box) return;
    setChosen([row, i]);
    if (box.from < from || box.to > to) {
      const long = to - from, middle = (box.from + box.to) / 2;
      show(middle - long / 2, middle + long / 2);
    }
  };
  // beside finds the next box at the same depth in the row, to the right or left (way).
  const beside = (row: number, i: number, way: number) => {
    const depth = rows[row]![i]!.depth;
    for (let k = i + way; k >= 0 && k < rows[row]!.length; k += way) if (rows[row]![k]!.depth === depth) return k;
    return i;
  };
  // near finds the box of a row at a time, the shallowest if there are several.
  const near = (row: number, t: number, depth = 0) => {
    let best = -1, distance = Infinity;
    rows[row]!.forEach((b, i) => {
      const d = b.depth !== depth ? Infinity : t < b.from ? b.from - t : t > b.to ? t - b.to : 0;
      if (d < distance) { distance = d; best = i; }
    });
    return best;
  };
  const key = (e: KeyboardEvent) => {
    const [row, i] = chosen ?? [0, near(0, from)], box = rows[row]?.[i];
    const middle = box ? (box.from + box.to) / 2 : (from + to) / 2;
    const act: Record<string, () => void> = {
      ArrowRight: () => move(row, chosen ? beside(row, i, 1) : i), ArrowLeft: () => move(row, chosen ? beside(row, i, -1) : i),
      ArrowDown: () => row + 1 < rows.length && move(row + 1, near(row + 1, middle)), ArrowUp: () => row > 0 && move(row - 1, near(row - 1, middle)),
      Enter: () => box && move(row, near(row, middle, box.depth + 1)), Backspace: () => box && box.depth > 0 && move(row, near(row, middle, box.depth - 1)),
      "+": () => zoom(0.5, middle), "=": () => zoom(0.5, middle), "-": () => zoom(2, middle),
      Escape: () => { setView([0, p.length_ns]); setChosen(undefined); },
    };
    if (!act[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    act[e.key]!();
  };
  const under = (e: PointerEvent | MouseEvent): [number, number] | undefined => {
    const r = canvas.current!.getBoundingClientRect(), ratio = width / r.width;
    const px = (e.clientX - r.left) * ratio, py = (e.clientY - r.top) * ratio;
    const row = tops.findIndex((y, i) => i < p.rows.length && py >= y && py < tops[i + 1]!);
    if (row < 0 || px < names) return undefined;
    const t = from + (px - names) / scale, slack = 1.5 / scale, lane = Math.floor((py - tops[row]!) / laneHeight);
    let found: [number, number] | undefined;
    rows[row]!.forEach((b, i) => { if (b.from - slack <= t && t <= b.to + slack && (!levels || laneOf(b.depth) === lane)) found = [row, i]; });
    return found;
  };
  const tell = (at: [number, number] | undefined) => (at && rows[at[0]]?.[at[1]] ? text(p, at[0], rows[at[0]]![at[1]]!) : "");
  const point = (e: PointerEvent) => {
    if (drag.current !== undefined && e.buttons & 1) {
      const by = (drag.current - e.clientX) / scale;
      drag.current = e.clientX;
      show(from + by, to + by);
      return;
    }
    const tip = tell(under(e));
    if (tip) canvas.current!.setAttribute("data-tip", tip); else canvas.current!.removeAttribute("data-tip");
  };
  return (
    <Figure title={title(p, rows)} caption={caption(p)} numbers={() => (
      <Table rows={p.rows.map((r, i) => ({ ...r, i }))} id={(r) => r.i} sort={0} ascending label="Executions by thread" columns={[
        { title: "Thread", cell: (r) => r.label, by: (r) => r.i },
        { title: "Executions", cell: (r) => count(r.executions), by: (r) => r.executions, number: true },
        { title: "Drawn singly", cell: (r) => count(singly(rows[r.i]!)), by: (r) => singly(rows[r.i]!), number: true },
        { title: "Depth", cell: (r) => r.depth, by: (r) => r.depth, number: true },
      ]} />
    )}>
      <div class="tools">
        <button type="button" aria-pressed={!levels} onClick={() => setLevels(false)}>Innermost</button>
        <button type="button" aria-pressed={levels} onClick={() => setLevels(true)}>A lane per depth</button>
        <button type="button" onClick={() => zoom(0.5, (from + to) / 2)}>Closer</button>
        <button type="button" onClick={() => zoom(2, (from + to) / 2)}>Wider</button>
        <button type="button" onClick={() => setView([0, p.length_ns])}>All</button>
        <span class="muted small">{seconds(from)} to {seconds(to)}</span>
      </div>
      <div class="scroll whenbox" ref={around}>
        <canvas ref={canvas} class="when" tabindex={0} role="application" style={{ width: `${width}px`, height: `${height}px` }} data-from={from} data-to={to}
          aria-label="Executions by thread and time. Left and right choose an execution, up and down a thread, Enter goes in, Backspace out, plus and minus zoom, Escape shows all."
          onKeyDown={key} onPointerMove={point} onPointerDown={(e) => { drag.current = e.clientX; }} onPointerUp={() => { drag.current = undefined; }}
          onClick={(e) => setChosen(under(e))} onDblClick={(e) => { const at = under(e), b = at && rows[at[0]]![at[1]]; if (b) show(b.from, b.to); }}
          onWheel={(e) => {
            if (!e.ctrlKey) return;
            e.preventDefault();
            const r = canvas.current!.getBoundingClientRect();
            zoom(e.deltaY < 0 ? 0.7 : 1.4, from + ((e.clientX - r.left) * (width / r.width) - names) / scale);
          }} />
      </div>
      <p class="small whentext" aria-live="polite">{tell(chosen) || "Arrows choose an execution; + and - zoom, Escape shows all. Drag moves, Ctrl and the wheel zoom, a double click goes to an execution."}</p>
      <ul class="legend">{[...new Set(p.names.map((n) => n.class))].map((c) => <li key={c}><i class={`key k-${c}`} />{c === "work" ? "Regions" : nameOf(c)}</li>)}</ul>
      {lines.length > mostLines && <p class="muted small">{plural(lines.length, "message")} in view: lines are drawn up to {count(mostLines)}. Zoom in.</p>}
      <Missing p={p} />
    </Figure>
  );
}

const singly = (boxes: Box[]) => boxes.reduce((t, b) => t + (b.n === 1 ? 1 : 0), 0);

function Missing({ p }: { p: Picture }) {
  const said = [...(p.notes ?? [])], deepest = p.rows.reduce((t, r) => Math.max(t, r.depth), 0);
  if (deepest > mostLanes) said.push(`Executions lie up to ${count(deepest)} deep: those deeper than ${mostLanes} share the last lane.`);
  if (p.left_out) said.push(`${plural(p.left_out, "more thread")} had no room here.`);
  if (p.unshown) said.push(`${plural(p.unshown, "more message")} had no room here: those that were under way longest are shown.`);
  const gaps = p.gaps ?? [];
  return (
    <>
      {gaps.length > 0 && <ul class="muted small">{gaps.slice(0, 20).map((g, i) => <li key={i}>Not recorded of {g.process}, {seconds(g.from)} to {seconds(g.to)}{g.executions > 0 && `, ${plural(g.executions, "execution")}`}: {g.why}.</li>)}
        {gaps.length > 20 && <li>and {plural(gaps.length - 20, "more gap")}.</li>}</ul>}
      {said.length > 0 && <ul class="muted small">{said.map((s) => <li key={s}>{s}</li>)}</ul>}
    </>
  );
}

function text(p: Picture, row: number, b: Box): string {
  const name = p.names[b.name]!.text, r = p.rows[row]!.label;
  const when = `${r}, ${seconds(b.from)} to ${seconds(b.to)} (${seconds(b.to - b.from)})`;
  return b.n === 1 ? `${name}\n${when}` : `${plural(b.n, "execution")}, ${seconds(b.sum)} together, most of it ${name}\n${when}`;
}

function title(p: Picture, rows: Box[][]): string {
  const all = p.rows.reduce((t, r) => t + r.executions, 0);
  return `${plural(all, "execution")} on ${plural(rows.length, "thread")} in ${seconds(p.length_ns)}`;
}

function caption(p: Picture): string {
  const together = p.shortest_ns > 0
    ? `Executions shorter than ${seconds(p.shortest_ns)} are drawn together with those beside them, pale and with a line below; --format perfetto shows each.`
    : "Each execution is drawn by itself; those that were recorded as a sum only are pale, with a line below.";
  return `A row is a thread, a box an execution of a region. ${together}`;
}

interface Scene {
  p: Picture; rows: Box[][]; tops: number[]; levels: boolean; width: number; height: number;
  x: (t: number) => number; from: number; to: number; chosen?: [number, number]; lines: NonNullable<Picture["messages"]>;
}

function paint(el: HTMLCanvasElement, s: Scene) {
  const ratio = Math.min(2, devicePixelRatio || 1);
  el.width = Math.round(s.width * ratio);
  el.height = Math.round(s.height * ratio);
  const g = el.getContext("2d");
  if (!g) return;
  const style = getComputedStyle(document.documentElement), colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  g.scale(ratio, ratio);
  g.font = "11.5px system-ui, sans-serif";
  g.textBaseline = "middle";
  scaleOf(g, s, colour);
  const ink = Object.fromEntries(s.p.names.map((n) => [n.class, colour(n.class)]));
  s.rows.forEach((boxes, row) => {
    const top = s.tops[row]!, high = s.tops[row + 1]! - rowGap - top;
    g.fillStyle = colour("sunken");
    g.fillRect(names, top, s.width - names, high);
    g.fillStyle = colour("text");
    g.fillText(s.p.rows[row]!.label, 0, top + high / 2, names - 8);
    for (const b of boxes) {
      if (b.to < s.from || b.from > s.to) continue;
      box(g, s, b, top + (s.levels ? laneOf(b.depth) * laneHeight : 0), ink[s.p.names[b.name]!.class]!, colour("surface"));
    }
  });
  if (s.lines.length <= mostLines) {
    g.strokeStyle = colour("text");
    g.lineWidth = 0.8;
    for (const m of s.lines) {
      const a = s.tops[m.from]! + laneHeight / 2, b = s.tops[m.to]! + laneHeight / 2;
      g.beginPath();
      g.moveTo(Math.max(names, s.x(m.sent)), a);
      g.lineTo(Math.max(names, s.x(m.received)), b);
      g.stroke();
    }
  }
  const at = s.chosen && s.rows[s.chosen[0]]?.[s.chosen[1]];
  if (at) {
    g.strokeStyle = colour("accent");
    g.lineWidth = 2;
    const left = Math.max(names, s.x(at.from));
    g.strokeRect(left, s.tops[s.chosen![0]]! + (s.levels ? laneOf(at.depth) * laneHeight : 0), Math.max(2, Math.min(s.width, s.x(at.to)) - left), laneHeight);
  }
}

// box draws a box. A box of several executions is the more opaque, the more of it they fill.
function box(g: CanvasRenderingContext2D, s: Scene, b: Box, y: number, ink: string, edge: string) {
  const left = Math.max(names, s.x(b.from)), wide = Math.max(0.6, Math.min(s.width, s.x(b.to)) - left);
  g.fillStyle = ink;
  g.globalAlpha = b.n > 1 ? 0.15 + 0.55 * Math.min(1, b.sum / Math.max(1, b.to - b.from)) : 1;
  g.fillRect(left, y, wide, laneHeight - 1);
  g.globalAlpha = 1;
  if (b.n > 1) g.fillRect(left, y + laneHeight - 3, wide, 2);
  if (wide > 4) { g.fillStyle = edge; g.fillRect(left + wide - 0.7, y, 0.7, laneHeight - 1); }
  if (s.levels && wide > 46) { // otherwise deeper boxes lie on it
    g.save();
    g.beginPath();
    g.rect(left, y, wide - 2, laneHeight);
    g.clip();
    g.fillStyle = "#000";
    const label = s.p.names[b.name]!.text;
    if (b.n === 1 && light(ink)) g.fillText(label, left + 3, y + laneHeight / 2);
    else { g.fillStyle = b.n === 1 ? "#fff" : getComputedStyle(document.documentElement).getPropertyValue("--text"); g.fillText(b.n > 1 ? `${count(b.n)} x ${label}` : label, left + 3, y + laneHeight / 2); }
    g.restore();
  }
}

// light tells whether a colour is so light that black text can be read on it.
function light(ink: string): boolean {
  const v = parseInt(ink.slice(1), 16);
  return 0.299 * (v >> 16) + 0.587 * ((v >> 8) & 255) + 0.114 * (v & 255) > 110;
}

// scaleOf draws the axis of times.
function scaleOf(g: CanvasRenderingContext2D, s: Scene, colour: (name: string) => string) {
  const rough = (s.to - s.from) / Math.max(2, (s.width - names) / 130), ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * ten).find((v) => v >= rough)!;
  g.textAlign = "center";
  for (let t = Math.ceil(s.from / step) * step; t <= s.to; t += step) {
    g.fillStyle = colour("line");
    g.fillRect(s.x(t), axis - 4, 1, s.height - axis);
    g.fillStyle = colour("muted");
    if (s.x(t) < s.width - 24) g.fillText(seconds(t), s.x(t), 8);
  }
  g.textAlign = "left";
}

// Levels draws for each level the share of threads that were in this level, over time.
export function Levels({ picture: p }: { picture: Picture }) {
  const [around, width] = useWidth<HTMLDivElement>(560);
  const shown = p.levels.filter((l) => l.ns > 0).sort((a, b) => b.ns - a.ns);
  if (shown.length === 0) return null;
  const all = shown.reduce((t, l) => t + l.ns, 0), full = (p.length_ns / p.bins) * Math.max(1, p.rows.length), high = 46, wide = width - names;
  const class_: Record<string, PartKey> = { MPI: "mpi", OpenMP: "work" };
  return (
    <Figure title={`${shown[0]!.name} has ${percent(shown[0]!.ns / all)} of the recorded time`} caption={`The share of the threads of which each level was the innermost one, over time. A bin spans ${seconds(p.length_ns / p.bins)}; the full height is all ${count(p.rows.length)} threads. Outside of all regions nothing is drawn. Executions that were recorded as a sum only count for the level around.`}
      numbers={() => <Table rows={shown} id={(l) => l.name} sort={1} label="Levels" columns={[
        { title: "Level", cell: (l) => l.name },
        { title: "Exclusive time", cell: (l) => seconds(l.ns), by: (l) => l.ns, number: true },
        { title: "Share", cell: (l) => percent(l.ns / all), by: (l) => l.ns, number: true },
      ]} />}>
      <div class="scroll" ref={around}><svg class="chart levels" style="min-width:560px" viewBox={`0 0 ${width} ${shown.length * (high + 8) + 16}`} role="img" aria-label="The time of each level. The numbers are below.">
        {shown.map((l, i) => {
          const y = i * (high + 8), line = l.bins.map((v, k) => `${names + (k / p.bins) * wide} ${(y + high * (1 - Math.min(1, v / full))).toFixed(2)} ${names + ((k + 1) / p.bins) * wide} ${(y + high * (1 - Math.min(1, v / full))).toFixed(2)}`).join(" ");
          return (
            <g key={l.name} data-level={l.name} data-ns={l.ns}>
              <rect x={names} y={y} width={wide} height={high} fill="var(--sunken)" />
              <polygon class={`c-${class_[l.name] ?? "idle"}`} points={`${names} ${y + high} ${line} ${width} ${y + high}`} />
              <text x="0" y={y + 18} font-size="12">{l.name}</text>
              <text x="0" y={y + 34} font-size="10.5" class="dim">{seconds(l.ns)}, {percent(l.ns / all)}</text>
            </g>
          );
        })}
        <text x={names} y={shown.length * (high + 8) + 11} font-size="10.5" class="dim">0 s</text>
        <text x={width} y={shown.length * (high + 8) + 11} font-size="10.5" class="dim" text-anchor="end">{seconds(p.length_ns)}</text>
      </svg></div>
    </Figure>
  );
}
