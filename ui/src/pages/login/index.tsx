/** Asks who somebody is. Tokens are kept in cookies that no script sees. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { api } from "@/api/client";
import { pagePath } from "@/base";
import { Button, ErrorPanel } from "@/design";
import { useHub } from "@/live/hooks";

const route = getRouteApi("/login");

/** Only places of this page: anything else would send people elsewhere with a link. */
export function safeNext(next: string | undefined, origin: string, base: string): string {
  try {
    const url = new URL(next ?? "", origin + base);
    const inside = url.origin === origin && url.pathname.startsWith(base) && !url.pathname.endsWith("/login");
    return inside ? `/${url.pathname.slice(base.length)}${url.search}` : "/";
  } catch {
    return "/";
  }
}

export default function Login() {
  const { next } = route.useSearch();
  const router = useRouter();
  const client = useQueryClient();
  const hub = useHub();
  const login = useMutation({
    mutationFn: (form: FormData) =>
      api.post("/v1/auth:login", {
        body: { name: String(form.get("name")), password: String(form.get("password")), cookie: true } as never,
      }),
    onSuccess: async () => {
      client.clear();
      hub.authenticated();
      router.history.push(pagePath.replace(/\/$/, "") + safeNext(next, location.origin, pagePath));
    },
  });
  return (
    <form
      className="panel mx-auto mt-[10vh] flex w-96 max-w-full flex-col gap-3 p-5"
      onSubmit={(event) => {
        event.preventDefault();
        login.mutate(new FormData(event.currentTarget));
      }}
    >
      <h1 className="text-20 font-semibold">Log in</h1>
      <label className="flex flex-col gap-1">
        Name
        <input className="field" name="name" required autoComplete="username" autoFocus />
      </label>
      <label className="flex flex-col gap-1">
        Password
        <input className="field" name="password" type="password" required autoComplete="current-password" />
      </label>
      {login.error ? <ErrorPanel error={login.error} title="You are not logged in" /> : null}
      <Button type="submit" look="primary" busy={login.isPending}>
        Log in
      </Button>
      <p className="border-t border-line pt-3 text-12 text-muted">
        No user yet? Whoever has the token of the server’s first start makes one: <code>ganger user add ada --role operator --password-file -</code>
      </p>
    </form>
  );
}
