import { useEffect } from "preact/hooks";
import { ClashDialog } from "../components/ClashDialog";
import { followAddress, PAGES, route } from "../state/route";
import { type Studio, StudioContext } from "../state/studio";
import { Header } from "./Header";
import { Lost } from "./Lost";
import { Notes } from "./Notes";
import { Notices } from "./Notices";
import { Page } from "./Page";

/** The whole page. */
export function App({ studio }: { studio: Studio }) {
  useEffect(() => {
    studio.start();
    const forget = followAddress();
    return () => {
      forget();
      studio.close();
    };
  }, [studio]);
  const { page, rest } = route.value;
  useEffect(() => {
    const name = PAGES.find(([known]) => known === page)?.[1] ?? "Open";
    document.title = `${name} · Coterie Studio`;
  }, [page]);
  return (
    <StudioContext.Provider value={studio}>
      <a class="skip" href="#studio-main" onClick={(event) => {
        event.preventDefault();
        document.getElementById("studio-main")?.focus();
      }}>Skip to the page</a>
      <Header />
      <Lost />
      {/* What is shown, for whoever waits for it: the page, the clustering, and whether something is being written. */}
      <main id="studio-main" tabIndex={-1} aria-busy={studio.busy.value} data-page={rest ? `${page}/${rest}` : page} data-version={studio.version.value}>
        <Notes />
        <Page />
      </main>
      <Notices />
      <ClashDialog />
    </StudioContext.Provider>
  );
}
