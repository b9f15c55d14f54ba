/** How the page looks to whoever looks at it. Kept in the browser. */
import { Panel, zoneName } from "@/design";
import { Field } from "@/pages/Field";
import { MOD } from "@/shell/keys";
import { changeSettings, type Settings, useSettings } from "@/settings/settings";

export function Appearance() {
  const settings = useSettings();
  const zones = [...new Set(["local", "UTC", settings.zone, ...Intl.supportedValuesOf("timeZone")])];
  return (
    <Panel title="In this browser">
      <div className="grid max-w-3xl grid-cols-3 gap-4 p-4 max-sm:grid-cols-1">
        <Field label="Theme">
          <select className="field" value={settings.theme} onChange={(event) => changeSettings({ theme: event.target.value as Settings["theme"] })}>
            <option value="system">As the system</option>
            <option value="dark">Dark</option>
            <option value="light">Light</option>
          </select>
        </Field>
        <Field label="Density" hint="How high rows are">
          <select className="field" value={settings.density} onChange={(event) => changeSettings({ density: event.target.value as Settings["density"] })}>
            <option value="compact">Compact</option>
            <option value="default">Default</option>
            <option value="comfortable">Comfortable</option>
          </select>
        </Field>
        <Field label="Time zone" hint="Of moments that are shown as they are">
          <select className="field" value={settings.zone} onChange={(event) => changeSettings({ zone: event.target.value })}>
            {zones.map((zone) => (
              <option key={zone} value={zone}>
                {zone === "local" ? `Local (${zoneName(zone)})` : zone}
              </option>
            ))}
          </select>
        </Field>
        <label className="col-span-full flex items-center gap-2">
          <input type="checkbox" className="size-4 accent-accent" checked={settings.absoluteTimes} onChange={(event) => changeSettings({ absoluteTimes: event.target.checked })} />
          Show absolute times
        </label>
        <label className="col-span-full flex items-center gap-2">
          <input type="checkbox" className="size-4 accent-accent" checked={settings.singleKeys} onChange={(event) => changeSettings({ singleKeys: event.target.checked })} />
          Keyboard shortcuts of one key, such as t and g j. Off, only the keys of what has the focus do, and {MOD}+K
        </label>
      </div>
    </Panel>
  );
}
