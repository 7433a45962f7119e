import { MapView } from "../map/MapView";

/** All rows at once, in the colours of their clusters. */
export function MapPage() {
  return (
    <>
      <h1>Map</h1>
      <MapView />
    </>
  );
}
