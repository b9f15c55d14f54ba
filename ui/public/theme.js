// Sets the theme before the first paint. A file of its own, because the content policy allows no inline script.
(function () {
  var theme = "system";
  try {
    theme = JSON.parse(localStorage.getItem("ganger.settings") || "{}").theme || "system";
  } catch {
    // Storage that cannot be read is the same as an empty one.
  }
  var dark = theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
