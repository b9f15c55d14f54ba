import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { makeQueryClient } from "@/api/query";
import { TooltipProvider } from "@/design/Tooltip";
import { HubContext } from "@/live/hooks";
import { Hub } from "@/live/hub";
import { makeRouter } from "@/router";
import { preloadWhenIdle } from "@/shell/lazy";
import { followSettings } from "@/settings/settings";
import "@/design/base.css";

followSettings();
const client = makeQueryClient();
const router = makeRouter(client);
const hub = new Hub(client);
const root = document.getElementById("root");
if (!root) throw new Error("the document has no #root");

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <HubContext value={hub}>
        <TooltipProvider>
          <RouterProvider router={router} />
        </TooltipProvider>
      </HubContext>
    </QueryClientProvider>
  </StrictMode>,
);
preloadWhenIdle();
