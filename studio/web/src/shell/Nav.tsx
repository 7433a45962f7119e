import { useEffect, useRef } from "preact/hooks";
import { PAGES, route } from "../state/route";

/** The seven things one can do. */
export function Nav() {
  const nav = useRef<HTMLElement>(null);
  // On a phone they do not all fit: the one that is shown comes into sight.
  useEffect(() => {
    const shown = nav.current?.querySelector("[aria-current]");
    if (shown && "scrollIntoView" in shown) shown.scrollIntoView({ block: "nearest", inline: "center" });
  }, [route.value.page]);
  return (
    <nav class="nav" aria-label="Pages" ref={nav}>
      <ul>
        {PAGES.map(([page, name]) => (
          <li key={page}>
            <a href={`#/${page}`} {...(route.value.page === page && { "aria-current": "page" as const })}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
