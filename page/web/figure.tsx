// The frame of a picture: its finding as title, what is drawn as caption, and its numbers.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface Props {
  title: string;
  caption: string;
  top?: boolean; // of the head: no section's title is above
  numbers?: () => ComponentChildren;
  children: ComponentChildren;
}

export function Figure({ title, caption, top, numbers, children }: Props) {
  return (
    <figure>
      {top ? <h2>{title}</h2> : <h3>{title}</h3>}
      <figcaption>{caption}</figcaption>
      {children}
      {numbers && <More title="Numbers">{numbers}</More>}
    </figure>
  );
}

// More shows its content when it is opened, and makes it only then.
export function More({ title, children }: { title: string; children: () => ComponentChildren }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="numbers" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{title}</summary>
      {open && <div class="scroll">{children()}</div>}
    </details>
  );
}
