// The frame of a picture: the finding as title, a caption that says what is drawn, and the numbers.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface Props {
  title: string;
  caption: string;
  top?: boolean; // the picture is in the page's head, without a section's title above it
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

// More shows its content when the user opens it. The content is made only then.
export function More({ title, children }: { title: string; children: () => ComponentChildren }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="numbers" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{title}</summary>
      {open && <div class="scroll">{children()}</div>}
    </details>
  );
}
