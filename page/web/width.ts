// The width of a picture in pixels. Pictures are drawn for this width, so that texts keep their
// size.
import { useLayoutEffect, useRef, useState } from "preact/hooks";

// useWidth returns a reference for the element around a picture, and the width of that element in
// pixels, or least if the element is narrower. Paper and small screens scale or scroll the picture.
export function useWidth<T extends HTMLElement>(least: number) {
  const ref = useRef<T>(null);
  const [width, setWidth] = useState(1000);
  useLayoutEffect(() => {
    const el = ref.current;
    if (!el) return;
    const measure = () => setWidth(Math.max(least, Math.floor(el.clientWidth)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(el);
    return () => observer.disconnect();
  }, []);
  return [ref, width] as const;
}
