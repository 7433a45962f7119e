import { useLayoutEffect, useRef } from "preact/hooks";
import { useStudio } from "../state/studio";
import { type Action, keymap } from "./keymap";

export type Handlers = Partial<Record<Action, () => void>>;

/** Whether the person is typing, so that letters are letters. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** The action a key press stands for, if any: single keys, and Ctrl or ⌘ + Z / Y for undo and redo. */
export function actionOf(event: KeyboardEvent): Action | null {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.ctrlKey || event.metaKey) {
    if (key === "z") return event.shiftKey ? "redo" : "undo";
    return key === "y" ? "redo" : null;
  }
  if (event.altKey) return null;
  return (Object.keys(keymap.value) as Action[]).find((action) => keymap.value[action] === key) ?? null;
}

/** Runs a handler when its key is pressed anywhere (of a widget: in it) but in a field, a dialog, or (Enter) on a button. */
export function useKeys(handlers: Handlers): void {
  const { place } = useStudio();
  const latest = useRef(handlers);
  latest.current = handlers;
  useLayoutEffect(() => { // before the next key can come
    const listen = (event: KeyboardEvent): void => {
      if (isTyping(event) || event.defaultPrevented || event.repeat) return;
      const target = event.composedPath()[0];
      if (place && !(target instanceof Node && place.contains(target))) return;
      if (target instanceof Element && target.closest("dialog")) return;
      if ((event.key === "Enter" || event.key === " ") && target instanceof Element && target.closest("button, a, summary")) return;
      const action = actionOf(event);
      const handler = action && latest.current[action];
      if (!handler) return;
      event.preventDefault();
      handler();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}
