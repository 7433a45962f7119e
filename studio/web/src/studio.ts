/** The page and the notebook widget in one module, so that nothing is shipped twice. */
import { h, render as draw } from "preact";
import { HttpTransport } from "./api/http";
import { MessageTransport, type Model } from "./api/messages";
import { App } from "./shell/App";
import { Studio } from "./state/studio";
import { type View, Widget } from "./widget/Widget";
import "./styles/index.css";

const place = document.getElementById("coterie-studio");
if (place) draw(h(App, { studio: new Studio(new HttpTransport()) }), place);

/**
 * Keys are not for JupyterLab, which would delete a cell by D, D. It looks at the element that has the focus before it
 * looks at those around it, so that each one says so itself.
 */
function keepKeys(element: EventTarget | null): void {
  if (element instanceof HTMLElement) element.dataset["lmSuppressShortcuts"] = "true";
}

/** What anywidget calls to show the widget in an element; what it returns is called at the end. */
function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const transport = new MessageTransport(model);
  const views = model.get("views") as View[];
  el.classList.add("coterie", "coterie-widget");
  el.tabIndex = -1; // a click anywhere in it, and keys are meant for it
  keepKeys(el);
  el.addEventListener("focusin", ({ target }) => keepKeys(target));
  draw(h(Widget, { studio: new Studio(transport, el), views, readOnly: Boolean(model.get("read_only")) }), el);
  return () => {
    draw(null, el);
    transport.close();
  };
}

export default { render };
