/**
 * Where the page lives.
 *
 * The document's `<base>` points at the directory of the page, `…/ui/`, whatever prefix a proxy put before it. The API is
 * its sibling.
 */

/** Path of the page with a slash at the end, such as `/ui/` or `/jobs-of-mine/ui/`. */
export const pagePath = new URL(document.baseURI).pathname.replace(/[^/]*$/, "");

/** Path of the server with a slash at the end. */
export const serverPath = pagePath.replace(/ui\/$/, "");

/** The address of something that the server serves, such as `v1/jobs`. */
export function serverUrl(path: string): string {
  return new URL(serverPath + path.replace(/^\//, ""), location.href).href;
}
