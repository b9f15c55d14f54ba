/** What can be done with the list as a whole: keep it as a view, choose columns, take it away as a file. */
import { useQueryClient } from "@tanstack/react-query";
import { Bookmark, Columns3, Download, Ellipsis, Link2, Trash2 } from "lucide-react";
import { useId, useState } from "react";
import { api, urlOf } from "@/api/client";
import { Problem } from "@/api/problem";
import { useMay } from "@/api/queries";
import { Button, CliLine, copyText, Dialog, ErrorPanel, Menu, MenuCheck, MenuItem, MenuLine, shellWord, toast } from "@/design";
import { forgetOwn, keepOwn, type SavedView, useViews } from "@/settings/views";
import { CHOICES, chooseColumns, useColumns } from "./columns";

export function Toolbar({ q }: { q: string }) {
  const [saving, setSaving] = useState<string>();
  const maySave = useMay("settings");
  const mayExport = useMay("read_payload");
  const client = useQueryClient();
  const { ids } = useColumns();
  const view = useViews().find((each) => each.query === q);
  const download = (format: "ndjson" | "csv") => {
    const link = document.createElement("a");
    link.href = urlOf("/v1/jobs:export", undefined, { q, format });
    link.download = `jobs.${format}`;
    link.click();
  };
  const forget = async ({ name, own }: SavedView) => {
    try {
      if (own) forgetOwn(name);
      else await api.delete("/v1/views/{name}", { path: { name } });
      await client.invalidateQueries({ queryKey: ["views"] });
      toast.done(`Deleted the view ${name}.`);
    } catch (thrown) {
      toast.failed(`The view ${name} could not be deleted`, thrown);
    }
  };
  return (
    <>
      {q && !view ? (
        <Button icon={<Bookmark size={14} />} onClick={() => setSaving(q)}>
          Save view
        </Button>
      ) : null}
      <Menu
        trigger={
          <Button icon={<Columns3 size={14} />}>
            Columns
          </Button>
        }
      >
        {CHOICES.map((choice) => (
          <MenuCheck key={choice.id} checked={ids.includes(choice.id)} onChange={(on) => chooseColumns(on ? [...ids, choice.id] : ids.filter((id) => id !== choice.id))}>
            {choice.name}
          </MenuCheck>
        ))}
        <MenuLine />
        <MenuItem onSelect={() => chooseColumns(undefined)}>Reset</MenuItem>
      </Menu>
      <Menu trigger={<Button icon={<Ellipsis size={16} />} aria-label="More" />}>
        {mayExport ? (
          <>
            <MenuItem icon={<Download size={14} />} onSelect={() => download("ndjson")}>
              Export all matches as NDJSON
            </MenuItem>
            <MenuItem icon={<Download size={14} />} onSelect={() => download("csv")}>
              Export all matches as CSV
            </MenuItem>
          </>
        ) : null}
        <MenuItem icon={<Link2 size={14} />} onSelect={() => void copyText(location.href).then((copied) => copied && toast.done("Copied the address of this list."))}>
          Copy link
        </MenuItem>
        <MenuItem icon={<span aria-hidden="true">$</span>} onSelect={() => void copyText(`ganger job list${q ? ` ${shellWord(q)}` : ""}`).then((copied) => copied && toast.done("Copied the command."))}>
          Copy as CLI
        </MenuItem>
        {view && (view.own || maySave) ? (
          <MenuItem danger icon={<Trash2 size={14} />} onSelect={() => void forget(view)}>
            Delete the view {view.name}
          </MenuItem>
        ) : null}
      </Menu>
      {saving === undefined ? null : <SaveView q={saving} mayShare={maySave} onClose={() => setSaving(undefined)} />}
    </>
  );
}

function SaveView({ q, mayShare, onClose }: { q: string; mayShare: boolean; onClose: () => void }) {
  const [name, setName] = useState("");
  const [own, setOwn] = useState(!mayShare);
  const [description, setDescription] = useState("");
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<Problem>();
  const client = useQueryClient();
  const known = useViews();
  const id = useId();
  const trimmed = name.trim();
  const replaces = known.some((each) => each.name === trimmed && each.own === own);
  const save = async () => {
    if (!trimmed || busy) return;
    setBusy(true);
    setFailed(undefined);
    try {
      if (own) keepOwn(trimmed, q);
      else await api.put("/v1/views/{name}", { path: { name: trimmed }, body: { query: q, description: description.trim() || null } });
      await client.invalidateQueries({ queryKey: ["views"] });
      toast.done(`Saved the view ${trimmed}. It is under Jobs on the left, ${own ? "in this browser" : "for everybody"}.`);
      onClose();
    } catch (thrown) {
      setFailed(Problem.from(thrown));
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Save this filter as a view"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={!trimmed} busy={busy} onClick={() => void save()}>
            {replaces ? `Replace ${trimmed}` : "Save view"}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <code className="text-12 break-all">{q}</code>
        <label htmlFor={id} className="flex flex-col gap-1">
          <span>Name</span>
          <input id={id} className="field" value={name} placeholder="mail-timeouts" autoComplete="off" spellCheck={false} onChange={(event) => setName(event.target.value)} />
        </label>
        {mayShare ? (
          <fieldset className="flex flex-wrap gap-x-5 gap-y-1">
            <legend className="sr-only">Who sees it</legend>
            {([[false, "For everybody"], [true, "For me, in this browser"]] as const).map(([value, text]) => (
              <label key={text} className="inline-flex min-h-6 items-center gap-2">
                <input type="radio" className="size-4 accent-accent" name={`${id}-own`} checked={own === value} onChange={() => setOwn(value)} />
                {text}
              </label>
            ))}
          </fieldset>
        ) : (
          <p className="text-muted">It is kept in this browser. One for everybody needs the permission “settings”.</p>
        )}
        {own ? null : (
          <label htmlFor={`${id}-about`} className="flex flex-col gap-1">
            <span>
              What it is for <span className="text-muted">(may be left out)</span>
            </span>
            <input id={`${id}-about`} className="field" value={description} autoComplete="off" onChange={(event) => setDescription(event.target.value)} />
          </label>
        )}
        <CliLine command={own ? `ganger job list ${shellWord(q)}` : `ganger view set ${shellWord(trimmed || "NAME")} ${shellWord(q)}`} />
        {failed ? <ErrorPanel error={failed} title="The view was not saved" /> : null}
      </form>
    </Dialog>
  );
}
