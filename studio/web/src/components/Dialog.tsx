import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

/** A modal dialog of the browser's own: focus stays inside, Escape closes, focus goes back after. */
export function Dialog(props: { title: string; wide?: boolean; close(): void; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  const title = useId();
  useLayoutEffect(() => { // the next key is typed into it
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={props.wide ? "dialog wide" : "dialog"}
      aria-labelledby={title}
      onCancel={(event) => {
        event.preventDefault();
        props.close();
      }}
      onClick={(event) => {
        if (event.target === element.current) props.close(); // beside it
      }}
    >
      <div class="dialog-body">
        <div class="dialog-head">
          <h2 id={title}>{props.title}</h2>
          <button type="button" class="quiet" aria-label="Close" onClick={props.close}>
            ✕
          </button>
        </div>
        {props.children}
      </div>
    </dialog>
  );
}
