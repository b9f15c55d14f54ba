/** Whether somebody has closed the first steps for good. Kept in the browser. */
const KEY = "ganger.onboarding";

export function isDismissed(): boolean {
  try {
    return localStorage.getItem(KEY) === "dismissed";
  } catch {
    return false;
  }
}

export function dismissOnboarding(): void {
  try {
    localStorage.setItem(KEY, "dismissed");
  } catch {
    // Without storage it is dismissed until the page is loaded again.
  }
}
