// What keyboard, wheel and dragging do to a graph besides uPlot's own zoom: the crosshair walks, the range
// moves and grows.
import type uPlot from "../../vendor/uplot/uPlot.esm.js";

export interface RangeEvents {
  onZoom(start: number, end: number): void; // ms since 1970
  // While it is dragged: the picture stands so many pixels to the right. Zero: it stands where it was.
  onShift(px: number): void;
}

const kWheelPauseMs = 250;
const kZoomStep = 0.7;

function walk(plot: uPlot, step: number): void {
  const last = plot.data[0].length - 1;
  const index = Math.min(last, Math.max(0, (plot.cursor.idx ?? (step > 0 ? -1 : last + 1)) + step));
  plot.setCursor({ left: plot.valToPos(plot.data[0][index], "x"), top: plot.over.clientHeight / 2 });
}

function zoomed(plot: uPlot, factor: number, leftPx: number | null): [number, number] {
  const { min, max } = plot.scales.x as { min: number; max: number };
  const at = leftPx === null ? (min + max) / 2 : plot.posToVal(leftPx, "x");
  return [Math.round(at - (at - min) * factor), Math.round(at + (max - at) * factor)];
}

function onKey(plot: uPlot, events: RangeEvents, event: KeyboardEvent): void {
  const left = plot.cursor.left !== undefined && plot.cursor.left >= 0 ? plot.cursor.left : null;
  if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    walk(plot, (event.key === "ArrowLeft" ? -1 : 1) * (event.shiftKey ? 10 : 1));
  } else if (event.key === "+" || event.key === "=") {
    events.onZoom(...zoomed(plot, kZoomStep, left));
  } else if (event.key === "-") {
    events.onZoom(...zoomed(plot, 1 / kZoomStep, left));
  } else {
    return;
  }
  event.preventDefault();
}

// With Shift, the picture moves with the pointer.
function dragByShift(plot: uPlot, events: RangeEvents): void {
  const { over } = plot;
  over.addEventListener(
    "mousedown",
    (event) => {
      if (!event.shiftKey || event.button !== 0) return;
      event.stopImmediatePropagation();
      event.preventDefault();
      const { min, max } = plot.scales.x as { min: number; max: number };
      const perPx = (max - min) / over.clientWidth;
      let px = 0;
      const move = (to: MouseEvent): void => {
        px = to.clientX - event.clientX;
        events.onShift(px);
      };
      const end = (): void => {
        document.removeEventListener("mousemove", move);
        document.removeEventListener("mouseup", end);
        const shift = Math.round(px * perPx);
        if (shift !== 0) events.onZoom(Math.round(min - shift), Math.round(max - shift));
        else events.onShift(0);
      };
      document.addEventListener("mousemove", move);
      document.addEventListener("mouseup", end);
    },
    { capture: true },
  );
}

// With Ctrl, the wheel zooms about the pointer; several turns are one zoom.
function zoomByWheel(plot: uPlot, events: RangeEvents): void {
  let factor = 1;
  let timer = 0;
  plot.over.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      factor *= event.deltaY < 0 ? kZoomStep : 1 / kZoomStep;
      const left = event.clientX - plot.over.getBoundingClientRect().left;
      window.clearTimeout(timer);
      timer = window.setTimeout(() => {
        events.onZoom(...zoomed(plot, factor, left));
        factor = 1;
      }, kWheelPauseMs);
    },
    { passive: false },
  );
}

export function makeWalkable(plot: uPlot, events: RangeEvents): void {
  const { over } = plot;
  over.tabIndex = 0;
  over.setAttribute("role", "group");
  over.setAttribute(
    "aria-label",
    "Graph. Left and right arrow keys move the crosshair, plus and minus zoom. Drag to zoom, with Shift to move.",
  );
  over.addEventListener("keydown", (event) => {
    if (event.target === over) onKey(plot, events, event);
  });
  dragByShift(plot, events);
  zoomByWheel(plot, events);
}
