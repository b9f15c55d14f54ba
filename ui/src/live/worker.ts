/** The shared worker: one stream for all tabs of this browser. */
import { Holder } from "./holder";
import type { ToHolder } from "./protocol";

const scope = self as unknown as { onconnect: (event: MessageEvent) => void; name: string };
// The name is the address of the events: tabs of different servers or prefixes have different workers.
const holder = new Holder(scope.name);

scope.onconnect = (event) => {
  const port = event.ports[0];
  if (!port) return;
  port.onmessage = (message: MessageEvent<ToHolder>) => holder.receive(port, message.data);
};
