import { PAGES, route } from "../state/route";

/** The seven things one can do. */
export function Nav() {
  return (
    <nav class="nav" aria-label="Pages">
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
