// Requests to the server: JSON in both directions, problems as exceptions, and
// a dialog for the token if the server needs one.

import { $ } from "./dom.js";

const TOKEN = "rana.token";

/** A problem as the server reports it (problem+json). */
export class Problem extends Error {
  constructor({ title, detail, status = 0, suggestions = [] }) {
    super(title);
    Object.assign(this, { title, detail, status, suggestions });
  }
}

/** Any exception as a Problem, so that it can be shown. */
export function asProblem(error) {
  if (error instanceof Problem) return error;
  return new Problem({ title: "The page failed", detail: String(error?.message ?? error) });
}

export const aborted = (error) => error?.name === "AbortError";

export async function get(path, query = {}, signal) {
  return (await request(withQuery(path, query), { signal })).json();
}

export async function post(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  return (await request(path, { method: "POST", headers, body: JSON.stringify(body), signal })).json();
}

/** Downloads a file. Returns it with its file name. */
export async function download(path, query) {
  const response = await request(withQuery(path, query));
  return { blob: await response.blob(), name: fileName(response.headers.get("Content-Disposition")) };
}

// Relative URLs, so that the page also works behind a proxy with a path.
function withQuery(path, query) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

async function request(url, options = {}) {
  for (;;) {
    const token = sessionStorage.getItem(TOKEN);
    const headers = { Accept: "application/json", ...options.headers };
    if (token) headers.Authorization = `Bearer ${token}`;
    let response;
    try {
      response = await fetch(url, { ...options, headers });
    } catch (error) {
      if (aborted(error)) throw error;
      throw new Problem({
        title: "The server does not respond",
        detail: "Check that rana serve is still running, then try again.",
      });
    }
    if (response.ok) return response;
    if (response.status !== 401) throw await problemOf(response);
    // If another request got a new token meanwhile, try again with it.
    if (sessionStorage.getItem(TOKEN) === token && !(await askToken(token !== null))) throw await problemOf(response);
  }
}

async function problemOf(response) {
  const body = await response.json().catch(() => ({}));
  return new Problem({
    title: body.title ?? `The server answered ${response.status}`,
    detail: body.detail ?? response.statusText,
    status: response.status,
    suggestions: body.suggestions ?? [],
  });
}

let asking = null;

/** Asks for the token, once for all waiting requests. True if one was given. */
function askToken(refused) {
  asking ??= new Promise((resolve) => {
    const dialog = $("token");
    const input = $("token-value");
    if (refused) $("token-why").textContent = "The server refused this token. Check it and try again.";
    input.value = "";
    dialog.returnValue = "cancel";
    dialog.addEventListener(
      "close",
      () => {
        asking = null;
        const token = input.value.trim();
        const given = dialog.returnValue === "use" && token !== "";
        if (given) sessionStorage.setItem(TOKEN, token);
        resolve(given);
      },
      { once: true },
    );
    dialog.showModal();
    input.focus();
  });
  return asking;
}

function fileName(disposition) {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? "");
  if (encoded) {
    try {
      return decodeURIComponent(encoded[1]);
    } catch {
      /* use the plain file name */
    }
  }
  return /filename="?([^";]+)"?/i.exec(disposition ?? "")?.[1] ?? null;
}
