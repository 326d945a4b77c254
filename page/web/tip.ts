// One tooltip for all elements with data-tip, for pointer and keyboard.
export function tips() {
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "tooltip");
  document.body.append(tip);
  const show = (target: Element, x: number, y: number) => {
    tip.textContent = target.getAttribute("data-tip");
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 6))}px`;
    tip.style.top = `${y + 18 + height > innerHeight ? y - height - 12 : y + 18}px`;
  };
  const of = (e: Event) => (e.target instanceof Element ? e.target.closest("[data-tip]") : null);
  document.addEventListener("pointermove", (e) => {
    const t = of(e);
    if (t) show(t, e.clientX, e.clientY); else tip.hidden = true;
  });
  document.addEventListener("focusin", (e) => {
    const t = of(e);
    if (!t || !t.matches(":focus-visible")) return;
    const r = t.getBoundingClientRect();
    show(t, r.left, r.bottom);
  });
  for (const name of ["pointerleave", "focusout", "scroll", "keydown"]) document.addEventListener(name, () => { tip.hidden = true; }, true);
}
