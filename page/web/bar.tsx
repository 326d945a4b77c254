// A stacked bar of the parts of a time, and its legend.
import { classes, nameOf, sumOf } from "./classes";
import type { PartKey, Parts } from "./data";
import { percent, seconds } from "./format";

interface Props {
  parts: Parts;
  scale?: number; // the time for which the full width stands; absent: the sum of the parts
  label?: string; // names the thread, rank or region that has the time
  mark?: string; // "~": figures are extrapolated, "+": they are incomplete
  tall?: boolean;
}

export function Bar({ parts, scale, label, mark, tall }: Props) {
  const sum = sumOf(parts);
  const whole = scale ?? sum;
  let at = 0;
  const segments = whole > 0 ? classes.flatMap(({ key }) => {
    const t = parts[key] ?? 0;
    if (t <= 0) return [];
    const x = at, width = (1000 * t) / whole;
    at += width;
    return [<rect key={key} class={`seg c-${key}`} x={x} y="0" width={width} height="20" data-ns={t}
      data-tip={`${label ? label + "\n" : ""}${nameOf(key)}: ${mark ?? ""}${seconds(t)} (${percent(t / sum)} of ${seconds(sum)})`} />];
  }) : [];
  return (
    <svg class={tall ? "bar tall" : "bar"} viewBox="0 0 1000 20" preserveAspectRatio="none" role="img"
      aria-label={`${label ?? "Time"}: ${spoken(parts)}`}>
      {segments}
      {mark && <rect class="hatch" x="0" y="0" width={at} height="20" fill="url(#hatch)" />}
    </svg>
  );
}

function spoken(parts: Parts): string {
  const sum = sumOf(parts);
  const said = classes.filter((c) => (parts[c.key] ?? 0) > 0).map((c) => `${c.name} ${percent(parts[c.key]! / sum)}`);
  return said.join(", ") || "nothing";
}

// Hatch is the pattern over figures that are not measured exactly.
export function Hatch() {
  return (
    <svg width="0" height="0" style="position:absolute" aria-hidden="true">
      <defs>
        <pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <line x1="0" y1="0" x2="0" y2="8" stroke="var(--surface)" stroke-width="3" stroke-opacity=".6" />
        </pattern>
      </defs>
    </svg>
  );
}

export function Legend({ parts }: { parts: Parts }) {
  const sum = sumOf(parts);
  return (
    <ul class="legend">
      {classes.filter((c) => (parts[c.key] ?? 0) !== 0).map((c) => (
        <li key={c.key} data-tip={`${c.name}: ${c.means}`}>
          <i class={`key k-${c.key}`} />{c.name} <b data-class={c.key} data-ns={parts[c.key]}>{percent(parts[c.key]! / sum)}</b>{" "}
          <span class="muted">{seconds(parts[c.key]!)}</span>
        </li>
      ))}
    </ul>
  );
}

// Keys is the legend: the colours of the classes that occur, with their names.
export function Keys({ of }: { of: Parts[] }) {
  const shown = classes.filter((c) => of.some((p) => (p[c.key] ?? 0) > 0));
  return <ul class="legend">{shown.map((c) => <li key={c.key} data-tip={c.means}><i class={`key k-${c.key}`} />{c.name}</li>)}</ul>;
}

export const keyOf = (k: PartKey) => <i class={`key k-${k}`} />;
