/** Is anything wrong, and is it getting worse? On a first run, instead: how to get going. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { stats } from "@/api/queries";
import { FINAL, sumOf } from "@/api/types";
import { Board } from "./Board";
import { dismissOnboarding, isDismissed } from "./dismissed";
import { Onboarding } from "./Onboarding";

export default function Overview() {
  const now = useQuery(stats());
  const [dismissed, setDismissed] = useState(isDismissed);
  const [welcome, setWelcome] = useState(false);
  // Once it is there it stays until it is closed, so that whoever follows it sees the last tick.
  if (!welcome && !dismissed && now.data && sumOf(now.data.jobs, FINAL) === 0) setWelcome(true);
  if (welcome && !dismissed) {
    return (
      <Onboarding
        onDismiss={() => {
          dismissOnboarding();
          setDismissed(true);
        }}
      />
    );
  }
  return <Board />;
}
