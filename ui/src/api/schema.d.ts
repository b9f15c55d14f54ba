// Made by `npm run generate` from openapi.json. Do not edit.
export interface paths {
    "/addJob": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Welcome a person by mail, once (profile C)
         * @description The same address and name again is the same job, for ever.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewMail"];
                };
            };
            responses: {
                /** @description `Job added to queue` */
                200: {
                    headers: {
                        Location?: string;
                        "X-Job-Id"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Message"];
                    };
                };
                /** @description Bad Request */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Message"];
                    };
                };
                /** @description `No token provided` or `Invalid token` */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain": string;
                    };
                };
                /** @description Nobody knows whether an earlier mail to this person was sent */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Message"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/db/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List final jobs (profile B)
         * @description As they are in the store, newest first, with their times.
         */
        get: {
            parameters: {
                query?: {
                    /** @description 1 to 1000, 1000 if not given */
                    limit?: number;
                    /** @description Where the `Link` of the page before points to */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        Link?: string;
                        "X-Total-Count"?: number;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["JobObject"][];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/db/jobs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a final job (profile B) */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["JobObject"];
                    };
                };
                /** @description `job not found` */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorObject"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/failedJobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List failed jobs (profile C)
         * @description Mails that will not be tried again by themselves, newest first.
         */
        get: {
            parameters: {
                query?: {
                    /** @description 1 to 500, 50 if not given */
                    limit?: number;
                    /** @description Where the `Link` of the page before points to */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        Link?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["FailedJob"][];
                    };
                };
                /** @description Bad Request */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Message"];
                    };
                };
                /** @description `No token provided` or `Invalid token` */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain": string;
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tell that all is well (profile C) */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description `Good health` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain": string;
                    };
                };
                /** @description `No token provided` or `Invalid token` */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain": string;
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List jobs (profile B)
         * @description Newest first, at most 1,000 and 8 MiB of payloads and results at a time.
         */
        get: {
            parameters: {
                query?: {
                    /** @description 1 to 1000, 1000 if not given */
                    limit?: number;
                    /** @description Where the `Link` of the page before points to */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        Link?: string;
                        "X-Total-Count"?: number;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["JobObject"][];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Submit a job (profile B)
         * @description `Idempotency-Key` works here too.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewJob"];
                };
            };
            responses: {
                /** @description Accepted */
                202: {
                    headers: {
                        Location?: string;
                        "X-Job-Id"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["JobObject"];
                    };
                };
                /** @description What is wrong, e.g. `unsupported job type` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorObject"];
                    };
                };
                /** @description The body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorObject"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a job (profile B) */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["JobObject"];
                    };
                };
                /** @description `job not found` */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorObject"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tell whether the process lives
         * @description Looks at nothing else: a store that is down is no reason to restart a server.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain": string;
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Log in (profile C) */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Credentials"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Tokens"];
                    };
                };
                /** @description Bad Request */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Message"];
                    };
                };
                /** @description Unauthorized */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Message"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the metrics
         * @description In the OpenMetrics text format, for Prometheus. Any server answers for the cluster: one that does not lead asks the leader for
         *     the gauges, and `ganger_cluster_known` is 0 if it has no answer in time.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/openmetrics-text": string;
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/problems/{code}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what an error code means
         * @description Markdown, or a page where a browser asks.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    code: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/markdown": string;
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tell whether the server can serve
         * @description `?verbose` lists every check; with `Accept: application/json`, as JSON.
         */
        get: {
            parameters: {
                query?: {
                    /** @description List every check; it needs no value */
                    verbose?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ReadyBody"];
                        "text/plain": string;
                    };
                };
                /** @description Service Unavailable */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ReadyBody"];
                        "text/plain": string;
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/refreshToken": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get the next access token (profile C)
         * @description A refresh token is good for one use; using one twice ends its login.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RefreshToken"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Tokens"];
                    };
                };
                /** @description Bad Request */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Message"];
                    };
                };
                /** @description Unauthorized */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Message"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/signup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign up (profile C)
         * @description Makes a user who may submit jobs, and logs him in. Only where it is enabled, as in `ganger dev`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Credentials"];
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Tokens"];
                    };
                };
                /** @description Bad Request */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Message"];
                    };
                };
                /** @description Forbidden */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Message"];
                    };
                };
                /** @description There is a user of that name */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Message"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/submit_job": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Submit a job (profile A)
         * @description Four attempts with exponential backoff, then dead. `Idempotency-Key` works here too.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SubmitJob"];
                };
            };
            responses: {
                /** @description `Job created successfully` */
                201: {
                    headers: {
                        Location?: string;
                        "X-Job-Id"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain": string;
                    };
                };
                /** @description `Invalid request payload` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain": string;
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the audit log
         * @description Who changed what, the last first. An entry is written in the same transaction as the change that it tells of; the last 10,000 are kept. Submissions and
         *     the work on jobs are not here: they are the history of each job.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Only of this caller, such as `user:ada` or `token:4k2m9x7q0b1c` */
                    who?: string;
                    /** @description Only what concerns this, such as `queue mail` or a job's id */
                    target?: string;
                    /** @description 1 to 500, 50 if not given */
                    limit?: number;
                    /** @description `next_cursor` of the page before */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AuditBody"];
                    };
                };
                /** @description Bad Request */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth:login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log in
         * @description Gives an access token for a quarter of an hour, and a refresh token for the next one. A user has five logins at a time. With `cookie` both are
         *     set as cookies that no script sees, and are left out of the answer.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["LoginRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["LoggedInBody"];
                    };
                };
                /** @description Unauthorized */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Too many failed before */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth:logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log out
         * @description Ends the login that the access token belongs to, or with `everywhere` all logins of the user. Its tokens hold no more.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["LogoutRequest"];
                };
            };
            responses: {
                /** @description It has ended */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Forbidden */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth:password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the own password
         * @description Ends all other logins of the user.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PasswordRequest"];
                };
            };
            responses: {
                /** @description It holds now */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Unauthorized */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth:refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get the next access token
         * @description A refresh token is good for one use. Using one twice ends its login: one of the two users is a thief. Without a body it is the one in the cookie.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RefreshRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["LoggedInBody"];
                    };
                };
                /** @description Unauthorized */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/capabilities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get what this server is and allows */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CapabilitiesBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the servers and their leader
         * @description Every server answers by itself, also while the store does not: then it tells what it knows, and why that may
         *     not be all.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ClusterBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read this document as a page */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/html": string;
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow live events
         * @description Server-Sent Events. `Last-Event-ID` resumes; `event: gap` says that some were missed. `event: open` says that everything from now on
         *     is told; its id is where to resume before anything has happened. `event: operation` is a bulk
         *     operation that began, is over or is further, and `event: counts` the counts of states with how things are in one sentence, each at most
         *     twice a second; these two have no id and are not told again. `event: slow` says that the server is busy and tells counts only every
         *     `interval_ms`; 0 is as usual. The stream ends when its token is revoked or expires. Whoever is confined to some queues hears of
         *     these only, and of nothing that is about all of them.
         */
        get: {
            parameters: {
                query?: {
                    /** @description job, attempt, worker, queue, schedule, operation, counts; all if not given */
                    topics?: string;
                    /** @description Only events of these jobs */
                    job?: string;
                    /** @description Of the topics job and attempt, only these jobs, at most 100; other topics go on */
                    visible?: string;
                    /** @description Only events of these queues */
                    queue?: string;
                };
                header?: {
                    /** @description The last event seen */
                    "Last-Event-ID"?: string | null;
                };
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": string;
                    };
                };
                /** @description Too many clients listen */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/failures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List groups of failures
         * @description Attempts that failed for one cause, per kind: numbers, ids, addresses and the like do not tell causes apart. The last seen first.
         *     Each with how often it came in the window, over time and as a part of its kind's attempts, for windows of up to seven days.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Seen within this time, such as `1h`, `24h` or `7d`; 24h if not given */
                    window?: string;
                    /** @description Only of this kind */
                    kind?: string;
                    /** @description 1 to 500, 50 if not given */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["FailuresBody"];
                    };
                };
                /** @description Bad Request */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/failures/{fingerprint}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a group of failures */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    fingerprint: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["FailureBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/failures/{fingerprint}:discard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete the dead jobs of a group
         * @description As a bulk operation: those whose last attempt failed so. The group stays listed, with its count.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    fingerprint: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["GroupRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PreviewBody"];
                    };
                };
                /** @description Accepted */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OperationBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/failures/{fingerprint}:replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay the dead jobs of a group
         * @description As a bulk operation: those whose last attempt failed so.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    fingerprint: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["GroupRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PreviewBody"];
                    };
                };
                /** @description Accepted */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OperationBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List jobs
         * @description Newest first. `q` is a filter such as `state:dead kind:mail.* error~timeout age<2h payload.user.id:42`; it and
         *     every other filter must hold. A search without a fitting index looks at up to 100,000 rows at a time, and says so. The next page is asked for with `cursor` and the same filters.
         */
        get: {
            parameters: {
                query?: {
                    /** @description A filter; docs/search.md has the language */
                    q?: string;
                    /** @description Repeat it, or separate several with commas */
                    state?: string;
                    queue?: string;
                    kind?: string;
                    tag?: string;
                    unique_key?: string;
                    /** @description RFC 3339; this moment or later */
                    created_from?: string;
                    /** @description RFC 3339; before this moment */
                    created_before?: string;
                    /** @description 1 to 500, 50 if not given */
                    limit?: number;
                    /** @description `next_cursor` of the page before */
                    cursor?: string;
                    /** @description payload, result or both */
                    include?: "payload" | "result" | "payload,result";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["JobPage"];
                    };
                };
                /** @description Bad Request */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Submit a job
         * @description The job is durable before the answer, unless it asks for `durability: buffered`. `Idempotency-Key` makes a repeated
         *     request harmless.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description Same key and body: the same answer, for 24 h */
                    "Idempotency-Key"?: string | null;
                    /** @description Needed for jobs of kind exec */
                    "X-Ganger-Exec-Token"?: string | null;
                    /** @description W3C trace context, handed to the worker */
                    traceparent?: string | null;
                    /** @description What tracing systems add to it */
                    tracestate?: string | null;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewJobRequest"];
                };
            };
            responses: {
                /** @description Its unique key is held by this job */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SubmittedBody"];
                    };
                };
                /** @description It exists now */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SubmittedBody"];
                    };
                };
                /** @description It is buffered, as it asked for */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SubmittedBody"];
                    };
                };
                /** @description Not valid */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a job
         * @description With `wait`, the answer comes once the job is final, or as it is when the time is over.
         */
        get: {
            parameters: {
                query?: {
                    /** @description A duration up to 60s */
                    wait?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["JobBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /**
         * Delete a final job
         * @description For ever, with its attempts and logs. A live one must be cancelled first.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It is gone */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description It is live */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/attempts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List a job's attempts */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AttemptsBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/children": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a job's children
         * @description The jobs that wait for it, or waited, oldest first.
         */
        get: {
            parameters: {
                query?: {
                    /** @description 1 to 100, 50 if not given */
                    limit?: number;
                    /** @description `next_cursor` of the page before */
                    cursor?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RelatedPage"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what happened to a job
         * @description Its intake, the beginning and end of each attempt, its end, and, for those who may read the audit log, who asked for what;
         *     in order.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["JobEventsBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tell why a job is, or is not, running */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ExplainBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what an attempt logged
         * @description The last 64 KiB of it, as text.
         */
        get: {
            parameters: {
                query?: {
                    /** @description The last or present one if not given */
                    attempt?: number;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain": string;
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/parents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a job's parents
         * @description The jobs that it waits for, or waited for, oldest first. Their results are at `/v1/jobs/{id}/result`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description 1 to 100, 50 if not given */
                    limit?: number;
                    /** @description `next_cursor` of the page before */
                    cursor?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RelatedPage"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/payload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a job's payload
         * @description The bytes that were submitted.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": unknown;
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/related": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what a job waits for and what waits for it
         * @description The first fifty of each; the rest is at `/parents` and `/children`.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RelationsBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/result": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a job's result
         * @description The bytes that its handler returned.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": unknown;
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description It is not final yet */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}:cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a job
         * @description A waiting job is cancelled at once (200); a running one is told to stop (202).
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CancelBody"];
                    };
                };
                /** @description It was told to stop */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CancelBody"];
                    };
                };
                /** @description Conflict */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}:replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a final job again
         * @description It keeps its id and the numbers of its attempts; its allowance of attempts is renewed.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description Needed for jobs of kind exec */
                    "X-Ganger-Exec-Token"?: string | null;
                };
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["JobBody"];
                    };
                };
                /** @description Forbidden */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Conflict */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}:run-now": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a waiting job due now */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["JobBody"];
                    };
                };
                /** @description Conflict */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs:batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Submit many jobs
         * @description Up to 1,000 jobs or 4 MiB. Each is answered on its own; with `atomic` all are taken in, or none. Jobs may wait for each
         *     other (`depends_on: ["#0"]`), and a `callback` for all of them.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description Same key and body: the same answer, for 24 h */
                    "Idempotency-Key"?: string | null;
                    /** @description Needed for jobs of kind exec */
                    "X-Ganger-Exec-Token"?: string | null;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["BatchRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["BatchBody"];
                    };
                };
                /** @description An atomic batch with a job that is not valid */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs:export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export jobs
         * @description Every job that matches, newest first, as it is when its turn comes. Jobs that come meanwhile are not part of it. Cells of a CSV
         *     that a spreadsheet would take for a formula begin with an apostrophe.
         */
        get: {
            parameters: {
                query?: {
                    /** @description A filter, as for the list; its other filters are taken too */
                    q?: string;
                    /** @description ndjson (if not given) or csv */
                    format?: "ndjson" | "csv";
                    /** @description payload, result or both (if not given) */
                    include?: "payload" | "result" | "payload,result";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/x-ndjson": string;
                        "text/csv": string;
                    };
                };
                /** @description Bad Request */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs:histogram": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count jobs over time
         * @description By when they were taken in, in intervals of equal length from the oldest match, or `created_from`, to now, or
         *     `created_before`. Of many jobs the newest 100,000 rows are looked at.
         */
        get: {
            parameters: {
                query?: {
                    /** @description A filter, as for the list; its other filters are taken too */
                    q?: string;
                    /** @description 1 to 500 intervals, 60 if not given */
                    buckets?: number;
                    /** @description RFC 3339; this moment or later */
                    created_from?: string;
                    /** @description RFC 3339; before this moment */
                    created_before?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["HistogramBody"];
                    };
                };
                /** @description Bad Request */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs:import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import jobs
         * @description One job per line (`application/x-ndjson`), any number of lines. Lines that are not valid are
         *     skipped and counted.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description Makes it safe to send the same import again */
                    "Idempotency-Key"?: string | null;
                    /** @description Needed for jobs of kind exec */
                    "X-Ganger-Exec-Token"?: string | null;
                };
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/x-ndjson": string | null;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ImportBody"];
                    };
                };
                /** @description It broke off; the detail says after which line */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List keys
         * @description The `concurrency_key`s that have live jobs or are closed, of all queues; the closed ones first.
         */
        get: {
            parameters: {
                query?: {
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["KeysBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/kinds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List kinds
         * @description Every kind that was ever set; all others have the default settings.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["KindsBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/kinds/{kind}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a kind
         * @description A kind that was never set has the default settings.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    kind: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["KindBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        /**
         * Set a kind
         * @description What is left out stays as it is. Jobs that run keep what they were started with.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    kind: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["KindPut"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["KindBody"];
                    };
                };
                /** @description Conflict */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Unprocessable Entity */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{token}:complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Complete a claimed job
         * @description The answer comes when the result is durable. Body: `result`, any JSON up to 1 MiB.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    token: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["CompleteRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RecordedBody"];
                    };
                };
                /** @description The lease is over */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{token}:extend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Extend the lease
         * @description Holds every job of the same claim for another while. So does every other report.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    token: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ExtendRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["HeldBody"];
                    };
                };
                /** @description The lease is over */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{token}:fail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fail a claimed job
         * @description The retry policy decides what follows. Body: `error`, and `fatal` (no retry), `retry_after` (a delay), `throttled` (a
         *     duration: the job's `concurrency_key` is closed for so long, and no attempt is burnt), or `cancelled` (it stopped because it
         *     was asked to).
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    token: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["FailRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RecordedBody"];
                    };
                };
                /** @description The lease is over */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{token}:log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log for a claimed job
         * @description Body: `text`. The last 64 KiB of each attempt are kept.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    token: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["LogRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["HeldBody"];
                    };
                };
                /** @description The lease is over */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{token}:progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tell how far a claimed job is
         * @description Body: `fraction` from 0 to 1, and a `note`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    token: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ProgressRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["HeldBody"];
                    };
                };
                /** @description The lease is over */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{token}:release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hand a claimed job back
         * @description It costs no attempt if `started` is false, or if the job may be tried more than once.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    token: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ReleaseRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RecordedBody"];
                    };
                };
                /** @description The lease is over */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get this document */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": unknown;
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List bulk operations
         * @description Those under way and the last 200 that are over, the newest first.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OperationsBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Start a bulk operation
         * @description Replays, cancels or deletes every job that the filter means, or those named. It concerns jobs as they are at this moment, keeps to
         *     its rate, and goes on after a restart. With `dry_run` it only tells what it would do.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description Same key and body: the same operation */
                    "Idempotency-Key"?: string | null;
                    /** @description Without it a replay leaves jobs of kind exec alone */
                    "X-Ganger-Exec-Token"?: string | null;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["OperationRequest"];
                };
            };
            responses: {
                /** @description What it would do */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PreviewBody"];
                    };
                };
                /** @description It is under way */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OperationBody"];
                    };
                };
                /** @description Its filter cannot be understood */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Too many are under way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Unprocessable Entity */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a bulk operation */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OperationBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operations/{id}:cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a bulk operation
         * @description What it has done stays done.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OperationBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description It is over */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List queues
         * @description Every queue that was ever set or holds a job.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["QueuesBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues/{queue}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a queue
         * @description A queue that was never used has the default settings.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    queue: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["QueueBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        /**
         * Set a queue
         * @description What is left out stays as it is.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    queue: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["QueuePut"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["QueueBody"];
                    };
                };
                /** @description Unprocessable Entity */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues/{queue}/head": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the head of a queue
         * @description The jobs that are next, in the order in which they would start if nothing held them back, and what holds each of them back: the
         *     first closed gate, as `/v1/jobs/{id}/explain` tells it.
         */
        get: {
            parameters: {
                query?: {
                    /** @description 1 to 100, 20 if not given */
                    limit?: number;
                };
                header?: never;
                path: {
                    queue: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["HeadBody"];
                    };
                };
                /** @description Bad Request */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues/{queue}/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the keys of a queue */
        get: {
            parameters: {
                query?: {
                    limit?: number;
                };
                header?: never;
                path: {
                    queue: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["KeysBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues/{queue}/keys/{key}:close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Close a key
         * @description Its jobs wait, no attempt burnt, and all others go on. Jobs that run are not stopped. It opens by itself when the time is over.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    queue: string;
                    key: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["KeyClose"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["KeyBody"];
                    };
                };
                /** @description Unprocessable Entity */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Too Many Requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues/{queue}/keys/{key}:open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open a key
         * @description Before its time is over; nothing happens if it is open.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    queue: string;
                    key: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["KeyBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues/{queue}:claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Claim jobs
         * @description Waits for a job of the queue and leases it to the caller. Body, all of it optional: `max` (1 to 64),
         *     `lease` (`"30s"`), `wait` (`"5s"`, at most `"1m"`), `kinds`, `worker` (a name for people).
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    queue: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ClaimRequest"];
                };
            };
            responses: {
                /** @description An empty list if none came in time */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ClaimBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues/{queue}:drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Drain a queue
         * @description Submissions are refused; what is there runs.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    queue: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["QueueBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues/{queue}:pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a queue
         * @description Nothing of it starts; submissions are accepted and running jobs go on.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    queue: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["QueueBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues/{queue}:purge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Remove the dead jobs of a queue, for ever */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    queue: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PurgeBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues/{queue}:resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume a queue that was paused or drained */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    queue: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["QueueBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scaling/{queue}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get how many workers a queue could use
         * @description For KEDA's `metrics-api` scaler with `valueLocation: desired_workers` and `targetValue: "1"`, and for others of its sort. It
         *     is zero when nothing of the queue runs and nothing could start. A paused queue counts what still runs; limits of the queue
         *     count too.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Never ask for more workers than this; 100 if not given */
                    max?: number;
                    /** @description Threads that a new worker brings; if not given, as many as the narrowest that serves the queue, or 4 */
                    threads_per_worker?: number;
                };
                header?: never;
                path: {
                    queue: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ScalingBody"];
                    };
                };
                /** @description Bad Request */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List schedules
         * @description By name.
         */
        get: {
            parameters: {
                query?: {
                    /** @description 1 to 500, 50 if not given */
                    limit?: number;
                    /** @description `next_cursor` of the page before */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SchedulesBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Make a schedule
         * @description It must not exist. Its first instant is the first one after this moment.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ScheduleRequest"];
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ScheduleBody"];
                    };
                };
                /** @description Conflict */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Unprocessable Entity */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a schedule */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ScheduleBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        /**
         * Make or replace a schedule
         * @description The same again changes nothing. What is left out has its default, but a schedule that is paused stays so. With another
         *     rule it fires from this moment on.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ScheduleRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ScheduleBody"];
                    };
                };
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ScheduleBody"];
                    };
                };
                /** @description Unprocessable Entity */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        post?: never;
        /**
         * Delete a schedule
         * @description With its ledger. Jobs that it made stay.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description No Content */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{name}/next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tell when a schedule fires next
         * @description With the local time, and what the clocks do where they change. A paused schedule is shown as if it were not.
         */
        get: {
            parameters: {
                query?: {
                    /** @description 1 to 1000, 10 if not given */
                    n?: number;
                    /** @description Instants after this moment (RFC 3339); after now if not given */
                    from?: string;
                };
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UpcomingBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{name}/occurrences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what became of a schedule's occurrences
         * @description The firing ledger, newest instant first. Instants that were too many for a row each share one.
         */
        get: {
            parameters: {
                query?: {
                    /** @description 1 to 500, 50 if not given */
                    limit?: number;
                    /** @description `next_cursor` of the page before */
                    cursor?: string;
                };
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OccurrencesBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{name}:backfill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make up for a range of the past
         * @description Instants of the range that did not fire do so now, at most 1000. With `preview` it only tells which instants there
         *     are. Sent twice it changes nothing the second time.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["BackfillRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["FiredBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Unprocessable Entity */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{name}:pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a schedule
         * @description It fires nothing until it is resumed.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ScheduleBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{name}:resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a schedule
         * @description What was due meanwhile is in the ledger as skipped; a backfill makes up for it.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ScheduleBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{name}:run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fire a schedule now
         * @description Whatever it says, also while it is paused or a job of it runs. Sent twice it fires twice.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["FiredBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules:preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview a schedule
         * @description Checks it, spells out its defaults, and tells when it would fire. Nothing is changed.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ScheduleRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SchedulePreview"];
                    };
                };
                /** @description Unprocessable Entity */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the counts, and how things are
         * @description The counts are exact, and as cheap with a million jobs as with ten. The verdict is one sentence: what is worst, or that
         *     all is well.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["StatsBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stats/timeseries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what happened over time
         * @description Counted per minute, queue and kind in the transactions that are counted, and kept for seven days. Steps in which nothing
         *     happened are zeros. At most 1,000 points, and 20 lines; the rest is one more line, `_other`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description throughput (if not given), wait, run, total, failures or enqueued */
                    metric?: "throughput" | "wait" | "run" | "total" | "failures" | "enqueued";
                    /** @description Only this queue */
                    queue?: string;
                    /** @description Only this kind */
                    kind?: string;
                    /** @description A line for each `queue`, or for each `kind` */
                    by?: "queue" | "kind";
                    /** @description Whole minutes from `1m` (if not given) to `1d` */
                    step?: string;
                    /** @description RFC 3339, or how long before the end, such as `6h`; an hour if not given */
                    from?: string;
                    /** @description RFC 3339; now if not given */
                    to?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TimeseriesBody"];
                    };
                };
                /** @description Bad Request */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/system": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the server as a whole
         * @description Version, store, health, who leads, what is kept how long, and the settings in force with where each came from. Every
         *     server answers by itself. Settings, with secrets masked, are for administrators.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SystemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tokens
         * @description Without their secrets, which nobody knows any more.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TokensBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Make a token
         * @description The answer has the token itself, which is told this once.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TokenRequest"];
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TokenBody"];
                    };
                };
                /** @description Unprocessable Entity */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a token */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TokenBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /**
         * Revoke a token
         * @description It is refused from now on, and streams that were opened with it end within seconds.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It holds no more */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List users */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UsersBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        /** Make a user */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["UserRequest"];
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UserBody"];
                    };
                };
                /** @description Conflict */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Unprocessable Entity */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a user */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UserBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        /**
         * Change a user
         * @description What is not given stays as it is. All logins of the user end.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["UserRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UserBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Unprocessable Entity */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        post?: never;
        /** Forget a user */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description He is forgotten */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/views": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List saved views */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ViewsBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/views/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a saved view */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ViewBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        /**
         * Save a view
         * @description A filter with a name. One of that name is replaced.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ViewPut"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ViewBody"];
                    };
                };
                /** @description It is new */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ViewBody"];
                    };
                };
                /** @description Its filter cannot be understood */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Unprocessable Entity */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        post?: never;
        /** Delete a saved view */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It is gone */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/whoami": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tell who asks
         * @description And what he may do.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WhoBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List workers
         * @description Lost ones of the last hour included.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WorkersBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a worker
         * @description Of one that left, with why it did, and what became of the jobs that it held.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WorkerBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/{id}:drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Drain a worker
         * @description It finishes what it holds and takes nothing new.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WorkerBody"];
                    };
                };
                /** @description Not Found */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
                /** @description Refused */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["ProblemBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description How waiting makes up for priority. */
        AgeingBody: {
            /**
             * Format: int32
             * @description It gains at most so much; 255 if that is not said.
             */
            at_most?: number | null;
            /** @description A waiting job gains one priority for each so long. */
            every: components["schemas"]["HumanDuration"];
        };
        /** @description One attempt. */
        AttemptBody: {
            /**
             * Format: int32
             * @description From 1; never reused.
             */
            attempt: number;
            /**
             * Format: date-time
             * @description When the end was recorded.
             */
            ended_at: string;
            /** @description Why, where there is a text. */
            error?: string | null;
            /**
             * Format: int64
             * @description How long the handler ran.
             */
            execution_time_ms: number;
            /** @description Proof of the lease under which it ran. */
            fence: string;
            /**
             * Format: date-time
             * @description When the lease was given.
             */
            leased_at: string;
            /** @description ok, error, timeout, lost, released or cancelled. */
            outcome: string;
            /** @description The worker's session. */
            session: string;
            /**
             * Format: date-time
             * @description When the handler began.
             */
            started_at: string;
            /**
             * Format: int32
             * @description Threads it was granted.
             */
            threads: number;
            /** @description Name of its worker. */
            worker: string;
        };
        /** @description Every recorded attempt of a job, first to last. */
        AttemptsBody: {
            /** @description The attempts. */
            items: components["schemas"]["AttemptBody"][];
        };
        /** @description A page of the audit log, the last entry first. */
        AuditBody: {
            /** @description The entries. */
            items: components["schemas"]["AuditEntryBody"][];
            /** @description For the next page, if there is one. */
            next_cursor?: string | null;
        };
        /** @description Something that somebody did. */
        AuditEntryBody: {
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description From which address. */
            from?: string | null;
            /** @description Names the entry; ids sort by time. */
            id: string;
            /** @description What was asked for: method and path. */
            operation: string;
            /** @description The id of the request. */
            request_id?: string | null;
            /** @description What it concerns. */
            target: string;
            /** @description Who: `user:ada`, `token:4k2m9x7q0b1c`, `certificate:gpu-1`. */
            who: string;
        };
        /** @description A range of the past that is to be made up for. */
        BackfillRequest: {
            /**
             * Format: date-time
             * @description The first moment.
             */
            from: string;
            /** @description Only tell which instants there are. */
            preview?: boolean;
            /**
             * Format: date-time
             * @description The last moment, at most now.
             */
            to: string;
        };
        /** @description What became of each job of a batch. */
        BatchBody: {
            /** @description How safe the jobs are at this moment. */
            durability?: components["schemas"]["Durability"];
            /** @description One per job, in the order of the request. */
            results: components["schemas"]["BatchResult"][];
            /** @description The same, counted. */
            summary: components["schemas"]["BatchSummary"];
        };
        /** @description Up to 1,000 jobs in one request. */
        BatchRequest: {
            /** @description All or none: one bad job refuses the whole batch. So it is where jobs refer to each other, or there is a `callback`. */
            atomic?: boolean;
            callback?: components["schemas"]["NewJobRequest"] | null;
            /** @description As for a single job, for all of them. */
            durability?: components["schemas"]["Durability"];
            /** @description The jobs, in order. */
            jobs: components["schemas"]["NewJobRequest"][];
        };
        /** @description What became of one job of a batch. */
        BatchResult: {
            /** @description Its unique key was held by that job. */
            deduplicated?: boolean;
            /** @description The job that answers the request. */
            id?: string | null;
            /** @description Position in the request, from 0. */
            index: number;
            problem?: components["schemas"]["ProblemBody"] | null;
            /**
             * Format: int32
             * @description What a request with this job alone would have been answered: 201, 202, 200 or an error.
             */
            status: number;
        };
        /** @description A batch, counted. */
        BatchSummary: {
            /** @description New jobs. */
            created: number;
            /** @description Jobs whose unique key was held. */
            deduplicated: number;
            /** @description Jobs that were refused. */
            failed: number;
        };
        /** @description One interval of a histogram. */
        BucketBody: {
            /**
             * Format: date-time
             * @description Its first moment; it ends where the next begins.
             */
            at: string;
            /**
             * Format: int64
             * @description Jobs taken in during it.
             */
            count: number;
            /** @description The same by state; states without a job are left out. */
            states: {
                [key: string]: number;
            };
        };
        /** @description What came of a cancel. */
        CancelBody: {
            /** @description It never starts again. */
            cancelled: boolean;
            /** @description The job. */
            id: string;
            /** @description It runs still: its worker was told to stop it, and it is cancelled when it has. */
            requested?: boolean;
        };
        /** @description What this server is and allows. */
        CapabilitiesBody: {
            /** @description Versions of the API it speaks. */
            api: string[];
            /** @description Whether callers are asked who they are. */
            auth: boolean;
            /** @description What people call this installation, such as `production`, if they said. */
            environment?: string | null;
            /** @description The bounds on what a client can send. */
            limits: components["schemas"]["LimitsBody"];
            /** @description Always `ganger`. */
            product: string;
            /** @description Whether people can make themselves users, at `POST /signup`. */
            signup: boolean;
            /** @description Version of the server. */
            version: string;
        };
        /** @description One check. */
        CheckBody: {
            /** @description Detail for people; what is wrong, if something is. */
            detail: string;
            /** @description What was checked. */
            name: string;
            /** @description Whether it is well. */
            ok: boolean;
            /** @description A promise that may be broken although it is well. */
            warning?: string | null;
        };
        /** @description What a claim got. */
        ClaimBody: {
            jobs: components["schemas"]["ClaimedJobBody"][];
        };
        /** @description What a claim asks for. */
        ClaimRequest: {
            /**
             * @description Kinds that the caller can run; all if not given.
             * @default null
             */
            kinds?: string[] | null;
            /** @default null */
            lease?: components["schemas"]["HumanDuration"] | null;
            /**
             * Format: int32
             * @description Most jobs, from 1 to 64; 1 if not given.
             * @default null
             */
            max?: number | null;
            /** @default null */
            wait?: components["schemas"]["HumanDuration"] | null;
            /**
             * @description A name for people; `http` if not given.
             * @default null
             */
            worker?: string | null;
        };
        /** @description A job, and the token with which its end is reported. */
        ClaimedJobBody: {
            /** Format: int32 */
            attempt: number;
            /** @description Names the lease in `ganger.complete(job, fence, result)`. */
            fence: string;
            id: string;
            kind: string;
            /**
             * Format: int64
             * @description The next report must come within this.
             */
            lease_expires_in_ms: number;
            /** @description Proves the lease: shown with every report, and to nobody else. */
            lease_token: string;
            /** Format: int32 */
            max_attempts: number;
            payload: unknown;
            queue: string;
            /**
             * Format: int32
             * @description Threads it was granted.
             */
            threads: number;
            /**
             * Format: int64
             * @description Longest run of this attempt, if there is a limit.
             */
            timeout_ms?: number | null;
            trace?: components["schemas"]["TraceRelation"] | null;
            traceparent?: string | null;
            tracestate?: string | null;
            /**
             * Format: int64
             * @description With a `traceparent`: how long ago the job was submitted.
             */
            waited_ms?: number | null;
        };
        /** @description The cluster, as the server that was asked sees it. */
        ClusterBody: {
            /** @description One server has its store to itself; no other can join. */
            embedded: boolean;
            /** @description Why this is only what the server knows by itself, if it is. */
            incomplete?: string | null;
            /** @description The servers, by name. */
            items: components["schemas"]["ServerBody"][];
            leader?: components["schemas"]["LeaderBody"] | null;
            /** @description What that server does: leader, standby, taking_over or stopped. */
            role: string;
            /** @description Name of the server that answers. */
            server: string;
        };
        /** @description How a job succeeded. */
        CompleteRequest: {
            /** @description What came of it: any JSON up to 1 MiB. */
            result?: unknown;
        };
        /** @description Jobs counted by state. */
        CountsBody: {
            /**
             * Format: int64
             * @description Waiting for other jobs.
             * @default 0
             */
            blocked?: number;
            /**
             * Format: int64
             * @description Stopped by a person, and still kept.
             * @default 0
             */
            cancelled?: number;
            /**
             * Format: int64
             * @description In the dead-letter queue.
             * @default 0
             */
            dead?: number;
            /**
             * Format: int64
             * @description Could run now.
             * @default 0
             */
            queued?: number;
            /**
             * Format: int64
             * @description Waiting for their next attempt.
             * @default 0
             */
            retrying?: number;
            /**
             * Format: int64
             * @description Held by a worker.
             * @default 0
             */
            running?: number;
            /**
             * Format: int64
             * @description Waiting for their `run_at`.
             * @default 0
             */
            scheduled?: number;
            /**
             * Format: int64
             * @description Returned a result, and still kept.
             * @default 0
             */
            succeeded?: number;
        };
        /** @description Who signs up or logs in. */
        Credentials: {
            password: string;
            username: string;
        };
        /**
         * @description How safe a job is to be before its submission is answered.
         * @enum {string}
         */
        Durability: "durable" | "buffered";
        /** @description What is wrong. */
        ErrorObject: {
            /** @description In a few words. */
            error: string;
        };
        /** @description Why a job is, or is not, running. */
        ExplainBody: {
            /**
             * Format: int64
             * @description When it should start, if that can be said: from its place in line, the run times of what comes first, limits and rates.
             */
            estimate_ms?: number | null;
            /** @description Everything that was checked, in the order in which dispatch checks it. */
            gates: components["schemas"]["GateBody"][];
            /** @description The job. */
            job: string;
            /** @description What to do about it, if anything. */
            next_step?: string | null;
            /**
             * Format: double
             * @description Jobs of its queue that were started per second lately, if there is an estimate.
             */
            per_second?: number | null;
            position?: components["schemas"]["PositionBody"] | null;
            /** @description Where it is. */
            state: string;
            /** @description One sentence for people. */
            summary: string;
        };
        /** @description An extension has nothing to say. */
        ExtendRequest: Record<string, never>;
        /** @description How a job failed. At most one of `fatal`, `retry_after`, `throttled` and `cancelled`. */
        FailRequest: {
            /**
             * @description It stopped because it was asked to (`cancel_requested`): the job is cancelled.
             * @default null
             */
            cancelled?: boolean | null;
            /**
             * @description Why, for people.
             * @default null
             * @example smtp: 451
             */
            error?: string | null;
            /**
             * @description Trying again is pointless: the job is dead.
             * @default null
             */
            fatal?: boolean | null;
            /** @default null */
            retry_after?: components["schemas"]["HumanDuration"] | null;
            /** @default null */
            throttled?: components["schemas"]["HumanDuration"] | null;
        };
        /** @description A mail that will not be tried again by itself. */
        FailedJob: {
            /** Format: int32 */
            attempts: number;
            email: string;
            /** @description Of the last attempt; `delivery unknown` if nobody knows whether the mail was sent. */
            error: string;
            /** Format: date-time */
            failed_at: string;
            /** @description As in `X-Job-Id`. */
            id: string;
            name: string;
        };
        /** @description A group of failures. */
        FailureBody: {
            /**
             * Format: int64
             * @description Attempts that failed so, since the first.
             */
            count: number;
            /** @description The error of the last one, shortened. */
            error: string;
            /**
             * @description Its name. The filter `failure:<fingerprint>` finds its jobs.
             * @example 9f86d081884c7d65
             */
            fingerprint: string;
            /**
             * Format: date-time
             * @description When the first of them ended.
             */
            first_at: string;
            /** @description The job of the last one. */
            job: string;
            /** @description The kind of its jobs. */
            kind: string;
            /**
             * Format: date-time
             * @description When the last one ended.
             */
            last_at: string;
            recent?: components["schemas"]["RecentBody"] | null;
        };
        /** @description Groups of failures, the last seen first. */
        FailuresBody: {
            /** @description The groups. */
            items: components["schemas"]["FailureBody"][];
            window?: components["schemas"]["WindowBody"] | null;
        };
        /** @description What is wrong with one part of a request. */
        FieldProblem: {
            /** @description What is wrong there, and the limit. */
            detail: string;
            /** @description JSON pointer into the body, or `?name` for a query parameter. */
            pointer: string;
        };
        /** @description What happened, in numbers. Which of them are there follows from the metric. */
        FigureBody: {
            /**
             * Format: int64
             * @description Of `throughput`: jobs that were cancelled.
             */
            cancelled?: number | null;
            /**
             * Format: int64
             * @description How many: jobs that became final, attempts that started, ended or failed, jobs that were taken in.
             */
            count: number;
            /**
             * Format: int64
             * @description Of `throughput` and `failures`: jobs that died.
             */
            dead?: number | null;
            /**
             * Format: double
             * @description Of `wait`, `run` and `total`: how long on average.
             */
            mean_ms?: number | null;
            /**
             * Format: double
             * @description Of `wait`, `run` and `total`: what half of them did not exceed, estimated from a histogram whose bounds double.
             */
            p50_ms?: number | null;
            /**
             * Format: double
             * @description The same for 95 of 100.
             */
            p95_ms?: number | null;
            /**
             * Format: double
             * @description The same for 99 of 100.
             */
            p99_ms?: number | null;
            /**
             * Format: int64
             * @description Of `throughput`: jobs that succeeded.
             */
            succeeded?: number | null;
        };
        /** @description Something that is not as it should be. */
        FindingBody: {
            /** @description The queue it is about. */
            queue?: string | null;
            /** @description How bad it is: `watch` or `bad`. */
            severity: string;
            /** @description What it is, for people. */
            text: string;
        };
        /** @description What a run or a backfill came to. */
        FiredBody: {
            /** @description Instants that were looked at. */
            considered: number;
            /** @description In a preview: the instants. */
            instants?: components["schemas"]["InstantBody"][];
            /** @description What was written about them; those that had fired before are left out. Empty in a preview. */
            occurrences: components["schemas"]["OccurrenceBody"][];
        };
        /** @description One thing that was checked. */
        GateBody: {
            /** @description Whether it holds the job back. */
            closed: boolean;
            /** @description The evidence, for people. */
            evidence: string;
            /** @description Its stable name. */
            gate: string;
        };
        /** @description What to do with the dead jobs of a group. */
        GroupRequest: {
            /**
             * @description Only tell what would be done.
             * @default false
             */
            dry_run?: boolean;
            /**
             * Format: int32
             * @description Jobs per second, 1 to 10,000; 500 if not given.
             * @default null
             */
            rate?: number | null;
            /**
             * @description Why, for whoever looks later.
             * @default null
             */
            reason?: string | null;
        };
        /** @description The next jobs of a queue. */
        HeadBody: {
            /** @description Whether the order is certain. It is not where tenants have jobs of several kinds, or where there are very many tenants. */
            exact: boolean;
            /** @description The jobs, in the order in which they would start if nothing held them back. */
            items: components["schemas"]["HeadJobBody"][];
            /** @description Jobs of other queues that start before the first of these, as the turns of the queues are now. */
            other_queues?: components["schemas"]["QueueAheadBody"][];
            /** @description The queue. */
            queue: string;
        };
        /** @description One of the next jobs of a queue. */
        HeadJobBody: {
            /**
             * Format: int32
             * @description Number of the attempt that is next.
             */
            attempt: number;
            held?: components["schemas"]["GateBody"] | null;
            /** @description The job. */
            id: string;
            /** @description Its kind. */
            kind: string;
            /**
             * Format: int32
             * @description Its priority.
             */
            priority: number;
            /**
             * Format: date-time
             * @description Since when it could run.
             */
            ready_since: string;
        };
        /** @description A job that a worker held when it left. */
        HeldBody: {
            /** @description The job. */
            job: string;
            /** @description Where it is now; absent if it is not kept any more. */
            state?: string | null;
        };
        /** @description Matches over time. */
        HistogramBody: {
            /** @description The intervals, the oldest first. Those without a match are there too. */
            buckets: components["schemas"]["BucketBody"][];
            /**
             * Format: int64
             * @description Jobs that match, of all that were looked at.
             */
            matched: number;
            /** @description How much was looked at, from the newest on. */
            scan: components["schemas"]["ScanBody"];
            /**
             * Format: int64
             * @description Length of each interval.
             */
            step_ms: number;
        };
        /**
         * @description A duration such as `30s`, `1h30m`, `7d` or `PT30S`, or a number of seconds
         * @example 30s
         */
        HumanDuration: string | number;
        /** @description What became of an import. */
        ImportBody: {
            /**
             * Format: int64
             * @description New jobs.
             */
            accepted: number;
            /**
             * Format: int64
             * @description Jobs whose unique key was held.
             */
            deduplicated: number;
            /** @description The first hundred refusals. */
            errors: components["schemas"]["ImportError"][];
            /**
             * Format: int64
             * @description Lines that were refused.
             */
            rejected: number;
        };
        /** @description A line of an import that was refused. */
        ImportError: {
            /** @description The stable name of the problem. */
            code: string;
            /** @description What is wrong, for people. */
            detail: string;
            /** @description What is wrong with which field. */
            errors?: components["schemas"]["FieldProblem"][];
            /**
             * Format: int64
             * @description From 1.
             */
            line: number;
        };
        /** @description An instant of a schedule. */
        InstantBody: {
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The same in the zone of the schedule. */
            local: string;
            /** @description What the clocks do there, if anything. */
            note?: string | null;
        };
        /** @description A job. */
        JobBody: {
            /**
             * Format: int32
             * @description Number of its last or present attempt; 0 before the first.
             */
            attempt: number;
            /**
             * Format: int32
             * @description Attempts that count against `max_attempts`; a replay sets it back to 0.
             */
            attempts_used: number;
            /** @description A person asked for it to stop; its worker was told. */
            cancel_requested?: boolean;
            /** @description Jobs of its queue with the same key share the limits of the queue's keys, and wait while the key is closed. */
            concurrency_key?: string | null;
            /**
             * Format: date-time
             * @description When it was taken in.
             */
            created_at: string;
            /**
             * Format: int64
             * @description How long its last attempt ran; so far, if it runs now.
             */
            execution_time_ms?: number | null;
            /**
             * Format: date-time
             * @description It dies if it has not started by then.
             */
            expires_at?: string | null;
            /**
             * @description The group of failures that its last recorded attempt belongs to, if that failed.
             * @example 9f86d081884c7d65
             */
            failure?: string | null;
            /** @description Whose job it is: within equal priority the owners of a queue's jobs take turns. */
            fair_key?: string | null;
            /**
             * Format: int32
             * @description The share of its owner, from 1 to 1000.
             */
            fair_weight?: number | null;
            /** @description What happens when no worker is wide enough. */
            fallback: string;
            /**
             * Format: date-time
             * @description When it became final.
             */
            finished_at?: string | null;
            /**
             * @description Its identity, for ever.
             * @example job_01J9X7QK5V8M3N2P4R6S8T0V1W
             */
            id: string;
            /** @description What picks its handler. */
            kind: string;
            /** @description Error of its last recorded attempt. */
            last_error?: string | null;
            /**
             * Format: int32
             * @description Attempts allowed in all.
             */
            max_attempts: number;
            /**
             * Format: int32
             * @description Workers lost in a row before it is quarantined.
             */
            max_lost: number;
            /**
             * Format: int32
             * @description The least it accepts.
             */
            min_threads: number;
            /** @description Its input, byte for byte. Lists omit it unless asked to include it. */
            payload?: unknown;
            /**
             * Format: int32
             * @description Larger runs first.
             */
            priority: number;
            progress?: components["schemas"]["ProgressBody"] | null;
            /** @description The lane it waits in. */
            queue: string;
            /**
             * Format: int64
             * @description How long it waited, ready to run, before its last attempt; so far, if it waits now.
             */
            queue_time_ms?: number | null;
            /** @description Why it died or was cancelled. */
            reason?: string | null;
            /** @description Labels its worker must carry. */
            require?: {
                [key: string]: string;
            };
            /** @description What its handler returned. Lists omit it unless asked to include it. */
            result?: unknown;
            /** @description Delays between attempts. */
            retry: components["schemas"]["RetryBody"];
            /**
             * Format: date-time
             * @description When it may run, or last might.
             */
            run_at: string;
            schedule?: components["schemas"]["OriginBody"] | null;
            /**
             * Format: date-time
             * @description When its last or present attempt was given to a worker.
             */
            started_at?: string | null;
            /** @description scheduled, blocked, queued, running, retrying, succeeded, dead or cancelled. */
            state: string;
            /** @description For finding it again. */
            tags?: string[];
            /**
             * Format: int32
             * @description Threads it wants.
             */
            threads: number;
            /**
             * Format: int32
             * @description Threads its last or present attempt was granted.
             */
            threads_granted?: number | null;
            /**
             * @description Longest run of one attempt, or `none`.
             * @example 1h
             */
            timeout: string;
            /**
             * Format: int64
             * @description From intake to its end, or to now.
             */
            total_time_ms: number;
            /** @description Trace of whoever submitted it. */
            traceparent?: string | null;
            /** @description What tracing systems added to it. */
            tracestate?: string | null;
            unique_for?: components["schemas"]["HumanDuration"] | null;
            /** @description At most one live job of its kind has this key. */
            unique_key?: string | null;
            /** @description Name of the worker of its last or present attempt. */
            worker?: string | null;
        };
        /** @description Something that happened to a job. */
        JobEventBody: {
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /**
             * Format: int32
             * @description Number of the attempt that it is about.
             */
            attempt?: number | null;
            /** @description What: created, started, ended, asked, succeeded, dead or cancelled. */
            event: string;
            /** @description How the attempt ended. */
            outcome?: string | null;
            /** @description In words: an error, a reason, what was asked for. */
            text?: string | null;
            /** @description Who asked for it. */
            who?: string | null;
            /** @description Name of the worker. */
            worker?: string | null;
        };
        /** @description What happened to a job, in order. */
        JobEventsBody: {
            /** @description The first comes first. */
            items: components["schemas"]["JobEventBody"][];
        };
        /** @description A job as it is shown. */
        JobObject: (components["schemas"]["Times"] | null) & {
            /** Format: date-time */
            completed_at?: string | null;
            /** Format: date-time */
            created_at: string;
            error?: string | null;
            /** @description A plain UUID. */
            id: string;
            name?: string | null;
            /** @description Its input. */
            payload?: unknown;
            /** Format: int32 */
            priority: number;
            /** @description Its keys in both spellings: `{"Sum":55,"sum":55}`. */
            result?: unknown;
            /** Format: date-time */
            started_at?: string | null;
            /** @description Pending, Running, Completed or Failed. */
            status: string;
            /** Format: int32 */
            thread_demand: number;
            type: string;
        };
        /** @description One page of jobs, newest first. */
        JobPage: {
            /** @description The jobs. */
            items: components["schemas"]["JobBody"][];
            /** @description Give it back as `cursor`, with the same filters, for the next page. */
            next_cursor?: string | null;
            /** @description How much was looked at. */
            scan: components["schemas"]["ScanBody"];
        };
        /** @description `concurrency_key` of a queue. */
        KeyBody: {
            /**
             * Format: date-time
             * @description Nothing of it starts before.
             */
            closed_until?: string | null;
            /** @description The key. */
            key: string;
            /** @description The queue. */
            queue: string;
            /**
             * Format: int32
             * @description Jobs that have it and run.
             */
            running: number;
            /**
             * Format: int32
             * @description Live jobs that have it and do not run.
             */
            waiting: number;
        };
        /** @description For how long a key is closed: one of the two. */
        KeyClose: {
            /** @default null */
            for?: components["schemas"]["HumanDuration"] | null;
            /**
             * Format: date-time
             * @description Until this moment.
             * @default null
             */
            until?: string | null;
        };
        /** @description The keys that have live jobs or are closed. */
        KeysBody: {
            /** @description Closed ones first, then by queue and name. */
            items: components["schemas"]["KeyBody"][];
            /** @description How many there are, shown or not. */
            total: number;
        };
        /** @description A kind. */
        KindBody: {
            /** @description Its name. */
            kind: string;
            /** @description Its handlers may end their job inside their own database transaction, with `ganger.complete`. */
            transactional: boolean;
        };
        /** @description Changes to a kind's settings; what is left out stays as it is. */
        KindPut: {
            /**
             * @description Its handlers may end their job inside their own database transaction. Needs jobs to be kept in PostgreSQL.
             * @default null
             */
            transactional?: boolean | null;
        };
        /** @description Jobs of one queue and kind. */
        KindStatsBody: {
            /** @description By state. */
            jobs: components["schemas"]["CountsBody"];
            /** @description The kind. */
            kind: string;
            /** @description The queue. */
            queue: string;
        };
        /** @description Every kind that was ever set. */
        KindsBody: {
            /** @description The kinds, by name. */
            items: components["schemas"]["KindBody"][];
        };
        /** @description The leader. */
        LeaderBody: {
            /** @description Where it is reached. */
            address: string;
            /**
             * Format: int64
             * @description The last batch of its term.
             */
            batch: number;
            /**
             * Format: int64
             * @description How long ago it renewed its row: seconds of silence before others may take over.
             */
            lag_ms: number;
            /** @description Its name. */
            name: string;
            /**
             * Format: date-time
             * @description When its term began.
             */
            since: string;
            /**
             * Format: int64
             * @description Its term.
             */
            term: number;
        };
        /** @description A lease that a worker holds. */
        LeaseBody: {
            /**
             * Format: int32
             * @description Which attempt.
             */
            attempt: number;
            /** @description Proof of the lease. */
            fence: string;
            /** @description The job. */
            job: string;
            /**
             * Format: date-time
             * @description When it was given.
             */
            since: string;
            /**
             * Format: int32
             * @description Threads granted.
             */
            threads: number;
        };
        /** @description How a worker left, and what became of what it held. */
        LeftBody: {
            /**
             * Format: date-time
             * @description When that was decided.
             */
            at: string;
            /** @description How many jobs it held. */
            held: number;
            /** @description The first hundred of them, and where each is now. Not in lists. */
            jobs?: components["schemas"]["HeldBody"][];
            /** @description Why, for people. */
            why: string;
        };
        /** @description The bounds on what a client can send. */
        LimitsBody: {
            /**
             * Format: int32
             * @description Most attempts of a job.
             */
            attempts: number;
            /** @description Largest batch. */
            batch_bytes: number;
            /** @description Most jobs in one batch. */
            batch_jobs: number;
            /** @description Longest error text kept. */
            error_bytes: number;
            /** @description How long an idempotency key is remembered. */
            idempotency_kept: string;
            /** @description Deepest nesting of JSON. */
            json_depth: number;
            /** @description Longest unique key or idempotency key. */
            key_bytes: number;
            /** @description Most labels of a worker, or required by a job. */
            labels: number;
            /** @description Log text kept of one attempt. */
            log_bytes: number;
            /** @description Longest delay, timeout or uniqueness window. */
            longest: string;
            /** @description Longest name of a queue or a kind. */
            name_bytes: number;
            /** @description Most rows of a page. */
            page: number;
            /** @description Largest payload. */
            payload_bytes: number;
            /** @description Largest result. */
            result_bytes: number;
            /** @description Longest tag. */
            tag_bytes: number;
            /** @description Most tags of a job. */
            tags: number;
            /**
             * Format: int32
             * @description Most threads of a job.
             */
            threads: number;
        };
        /** @description What a job logs. */
        LogRequest: {
            /**
             * @description Lines. The last 64 KiB of each attempt are kept.
             * @default null
             */
            text?: string | null;
        };
        /** @description What a login gives. */
        LoggedInBody: {
            /** @description To be sent as `Authorization: Bearer …`; empty if it is in a cookie. */
            access_token: string;
            /**
             * Format: int64
             * @description Seconds for which the access token holds.
             */
            expires_in: number;
            /** @description The user. */
            name: string;
            /** @description Gives the next access token, once; empty if it is in a cookie. */
            refresh_token: string;
            /** @description What he may do. */
            role: string;
            /** @description Always `Bearer`. */
            token_type: string;
        };
        /** @description A login. */
        LoginRequest: {
            /**
             * @description The user.
             * @default
             */
            name?: string;
            /**
             * @description His password.
             * @default
             */
            password?: string;
        };
        /** @description The end of a login. */
        LogoutRequest: {
            /**
             * @description All logins of the user, not only this one.
             * @default false
             */
            everywhere?: boolean;
        };
        /** @description One sentence. */
        Message: {
            message: string;
        };
        /**
         * @description What is shown over time.
         * @enum {string}
         */
        Metric: "throughput" | "wait" | "run" | "total" | "failures" | "enqueued";
        /** @description A job as it is asked for. What else is in the body is left aside, as it was there. */
        NewJob: {
            /** @description A name for people. */
            name?: string | null;
            /** @description Its input. */
            payload?: unknown;
            /**
             * Format: int64
             * @description Larger runs first.
             */
            priority?: number;
            /**
             * Format: int64
             * @description Threads it wants; 0 is one.
             */
            thread_demand?: number;
            /** @description `LargeArraySum` or `large_array_sum`, and so on. */
            type?: string;
        };
        /** @description A job as a client asks for it. Only `kind` is required. */
        NewJobRequest: {
            /**
             * @description Jobs of its queue with the same key share the limits of the queue's keys, and wait while the key is closed.
             * @default null
             */
            concurrency_key?: string | null;
            /** @default null */
            delay?: components["schemas"]["HumanDuration"] | null;
            /**
             * @description Jobs that must be final before it may run: it is `blocked` until then. Up to 1,000.
             * @default null
             */
            depends_on?: components["schemas"]["ParentRequest"][] | null;
            /** @default null */
            durability?: components["schemas"]["Durability"] | null;
            /**
             * Format: date-time
             * @description It dies if it has not started by then.
             * @default null
             */
            expires_at?: string | null;
            /**
             * @description Whose job it is: within equal priority the owners of a queue's jobs take turns.
             * @default null
             */
            fair_key?: string | null;
            /**
             * Format: int32
             * @description The share of its owner, from 1 to 1000.
             * @default null
             */
            fair_weight?: number | null;
            /**
             * @description What to do when no worker could ever hold all its threads: `widest` or `single`.
             * @default null
             */
            fallback?: string | null;
            /**
             * @description Picks the handler.
             * @default
             */
            kind: string;
            /**
             * Format: int32
             * @description Attempts allowed in all, the first included.
             * @default null
             */
            max_attempts?: number | null;
            /**
             * Format: int32
             * @description Workers lost in a row before it is quarantined as dead.
             * @default null
             */
            max_lost?: number | null;
            /**
             * Format: int32
             * @description The least it accepts when no worker is wide enough.
             * @default null
             */
            min_threads?: number | null;
            /** @description Its input: any JSON, kept byte for byte. */
            payload?: unknown;
            /**
             * Format: int32
             * @description −128 to 127; larger runs first.
             * @default null
             */
            priority?: number | null;
            /**
             * @description The lane it waits in; `default` if not given.
             * @default null
             */
            queue?: string | null;
            /**
             * @description Labels its worker must carry.
             * @default null
             */
            require?: {
                [key: string]: string;
            } | null;
            /** @default null */
            retry?: components["schemas"]["RetryRequest"] | null;
            /**
             * Format: date-time
             * @description Earliest moment to run. Not together with `delay`.
             * @default null
             */
            run_at?: string | null;
            /**
             * @description For finding it again.
             * @default null
             */
            tags?: string[] | null;
            /**
             * Format: int32
             * @description Threads it wants, all or none.
             * @default null
             */
            threads?: number | null;
            /**
             * @description Longest run of one attempt, or `"none"`.
             * @default null
             * @example 30s
             */
            timeout?: string | null;
            /**
             * @description W3C `traceparent` of whoever submits it; the header of that name does as well. One that is not valid is ignored.
             * @default null
             */
            traceparent?: string | null;
            /**
             * @description The `tracestate` that belongs to it.
             * @default null
             */
            tracestate?: string | null;
            /** @default null */
            unique_for?: components["schemas"]["HumanDuration"] | null;
            /**
             * @description At most one live job of its kind with this key.
             * @default null
             */
            unique_key?: string | null;
        };
        /** @description Who is to be welcomed. */
        NewMail: {
            /** @example ada@example.com */
            email: string;
            /** @example Ada */
            name: string;
        };
        /** @description One due instant of a schedule, and what became of it. */
        OccurrenceBody: {
            /** @description `schedule`, `manual` or `backfill`. */
            cause: string;
            /**
             * Format: int64
             * @description How many instants the row stands for.
             */
            count: number;
            /**
             * Format: date-time
             * @description When that was decided.
             */
            decided_at: string;
            /**
             * Format: date-time
             * @description When it was due; for a manual one, when it was asked for.
             */
            due_at: string;
            /** @description The job that it made, or that was in its way. */
            job?: string | null;
            /** @description Why it was skipped: `missed`, `paused`, `overlap`, `edited`, `queue_draining` or `unique_key`. */
            reason?: string | null;
            /**
             * Format: date-time
             * @description The row stands for all instants from here on, where they were too many for a row each.
             */
            since?: string | null;
            /** @description `fired`, `waiting` or `skipped`. */
            state: string;
        };
        /** @description The ledger of a schedule, newest first. */
        OccurrencesBody: {
            /** @description Those of this page. */
            items: components["schemas"]["OccurrenceBody"][];
            /** @description Where the next page begins; missing on the last one. */
            next_cursor?: string | null;
        };
        /** @description A bulk operation. */
        OperationBody: {
            /** @description replay, cancel or delete. */
            action: string;
            /** @description It is for all jobs. */
            all?: boolean;
            /** @description Who asked for it, if that is known: `user:…`, `token:…`, `anyone`. */
            by?: string | null;
            /**
             * Format: date-time
             * @description When it was asked for. Jobs that came, or ended, later are left alone.
             */
            created_at: string;
            /**
             * Format: int64
             * @description Jobs to which it was done.
             */
            done: number;
            /**
             * Format: int64
             * @description Rows looked at so far.
             */
            examined: number;
            /** @description Its filter, if it has one. */
            filter?: string | null;
            /**
             * Format: date-time
             * @description When it was over.
             */
            finished_at?: string | null;
            /**
             * @description Its identity.
             * @example op_01J9X7QK5V8M3N2P4R6S8T0V1W
             */
            id: string;
            /** @description How many jobs it names one by one, if it does. */
            ids?: number | null;
            /**
             * Format: int32
             * @description Jobs per second, at the most.
             */
            rate: number;
            /** @description Why. */
            reason?: string | null;
            /**
             * Format: int64
             * @description Jobs that were left alone.
             */
            skipped: number;
            /** @description The same by reason: live, final, changed, gone, unique_key_held, exec_not_allowed. */
            skipped_by: {
                [key: string]: number;
            };
            /** @description running, done or cancelled. */
            state: string;
            /**
             * Format: int64
             * @description How many jobs it was for when it was asked for; not there if they are too many to be counted.
             */
            total?: number | null;
        };
        /** @description A bulk operation as it is asked for: exactly one of `filter`, `ids` and `all`. */
        OperationRequest: {
            /**
             * @description replay, cancel or delete.
             * @default
             */
            action?: string;
            /**
             * @description Really all jobs.
             * @default false
             */
            all?: boolean;
            /**
             * @description Only tell what would be done.
             * @default false
             */
            dry_run?: boolean;
            /**
             * @description Which jobs, in the language of `GET /v1/jobs?q=`. Replay and delete concern final jobs, cancel live ones.
             * @default null
             */
            filter?: string | null;
            /**
             * @description Which jobs, one by one; at most 1,000.
             * @default null
             */
            ids?: string[] | null;
            /**
             * Format: int32
             * @description Jobs per second, 1 to 10,000; 500 if not given.
             * @default null
             */
            rate?: number | null;
            /**
             * @description Why, for whoever looks later.
             * @default null
             */
            reason?: string | null;
        };
        /** @description Bulk operations, the newest first. */
        OperationsBody: {
            /** @description The operations. */
            items: components["schemas"]["OperationBody"][];
        };
        /** @description The schedule that made a job. */
        OriginBody: {
            /**
             * Format: date-time
             * @description The instant for which it made the job.
             */
            due_at: string;
            /** @description Its name. */
            name: string;
        };
        /**
         * @description A job that another one waits for: its id alone, or with what to do if it dies or is cancelled. Within a batch `#0` is the
         *     first job of `jobs`.
         */
        ParentRequest: string | {
            /** @description Its id. */
            job: string;
            /**
             * @description `cancel` (the default), `run` or `wait` until it is replayed and succeeds.
             * @example run
             */
            on_dead?: string;
        };
        /** @description Another password. */
        PasswordRequest: {
            /**
             * @description The next one.
             * @default
             */
            next?: string;
            /**
             * @description The present one.
             * @default
             */
            present?: string;
        };
        /** @description What happened in one step. */
        PointBody: components["schemas"]["FigureBody"] & {
            /** @description When the step begins. */
            at: string;
        };
        /** @description A place in line. */
        PositionBody: {
            /** @description Jobs of the same queue that come before it. */
            ahead: number;
            /** @description Whether that is exact, or at least that many. */
            exact: boolean;
            /** @description Jobs of other queues that start before it, as the turns of the queues are now. */
            other_queues?: components["schemas"]["QueueAheadBody"][];
        };
        /** @description What a bulk operation would do. */
        PreviewBody: {
            /** @description The matches by kind. */
            by_kind: {
                [key: string]: number;
            };
            /** @description The matches by queue. */
            by_queue: {
                [key: string]: number;
            };
            /** @description The matches by state. */
            by_state: {
                [key: string]: number;
            };
            /** @description Always true. */
            dry_run: boolean;
            /**
             * Format: int64
             * @description Jobs that it would act upon; more, if the scan is not complete.
             */
            matched: number;
            /** @description Some of them. */
            sample: string[];
            /** @description How much was looked at. */
            scan: components["schemas"]["ScanBody"];
            /**
             * Format: int64
             * @description Jobs named one by one that it would leave alone.
             */
            skipped: number;
        };
        /** @description Why a request did not succeed. */
        ProblemBody: {
            /** @description The stable name of the problem, for programs. */
            code: string;
            /** @description This occurrence, for people. */
            detail: string;
            /** @description What is wrong with which part of the request. */
            errors?: components["schemas"]["FieldProblem"][];
            /** @description What could stand there. */
            expected?: string[];
            /** @description What to do about it. */
            hint?: string | null;
            /** @description Of a filter that cannot be understood: the byte at which it stops making sense. */
            position?: number | null;
            /** @description Names the request in the server's log. */
            request_id?: string | null;
            /** @description Whether the same request may succeed later. */
            retryable?: boolean;
            /**
             * Format: int32
             * @description The HTTP status.
             */
            status: number;
            /** @description The sort of problem, in words that never change. */
            title: string;
            /** @description Where the code is explained, on this server: `/problems/<code>`. */
            type: string;
        };
        /** @description How far a handler said it is. */
        ProgressBody: {
            /**
             * Format: float
             * @description From 0 to 1.
             */
            fraction: number;
            /** @description In words. */
            note?: string;
        };
        /** @description How far a job is. */
        ProgressRequest: {
            /**
             * Format: float
             * @description From 0 to 1; 0 if not given.
             * @default null
             */
            fraction?: number | null;
            /**
             * @description In words; longer than 1 KiB is cut.
             * @default null
             */
            note?: string | null;
        };
        /** @description How many dead jobs were removed. */
        PurgeBody: {
            /**
             * Format: int64
             * @description Dead jobs that are gone now.
             */
            purged: number;
        };
        /** @description Jobs of another queue that come first. */
        QueueAheadBody: {
            /**
             * Format: int64
             * @description How many of its jobs.
             */
            jobs: number;
            /** @description The queue; absent for all those together that the caller may not see. */
            queue?: string | null;
        };
        /** @description A queue. */
        QueueBody: {
            ageing?: components["schemas"]["AgeingBody"] | null;
            block?: components["schemas"]["HumanDuration"] | null;
            /** @description Submissions are refused; what is there runs. */
            draining: boolean;
            /** @description Its jobs by state. */
            jobs: components["schemas"]["CountsBody"];
            /** @description What the jobs of each of its `concurrency_key`s together may do. */
            key_limits?: components["schemas"]["QueueLimitsBody"];
            /** @description What its jobs together may do. */
            limits?: components["schemas"]["QueueLimitsBody"];
            /**
             * Format: int64
             * @description How long the first job in line has been ready.
             */
            oldest_ready_ms?: number | null;
            /** @description Nothing of it starts; submissions are accepted. */
            paused: boolean;
            /** @description Which worker gets the next job: least_recently_used, round_robin, best_fit or spread. */
            policy: string;
            /**
             * Format: int32
             * @description A worker starts jobs of queues with a larger precedence first.
             */
            precedence?: number;
            /** @description Its name. */
            queue: string;
            /** @description How long final jobs are kept. */
            retention: components["schemas"]["RetentionBody"];
            /**
             * Format: int32
             * @description Its share of the starts among the queues of the same precedence that a worker serves.
             */
            weight?: number;
            /** @description Workers that serve it. */
            workers: number;
        };
        /** @description What the jobs of a queue, or of a key of it, together may do. What is not there is not limited. */
        QueueLimitsBody: {
            /**
             * Format: int32
             * @description Starts at once after a pause.
             * @default null
             */
            burst?: number | null;
            /**
             * Format: int32
             * @description Jobs that wait. Submissions beyond are refused, or held.
             * @default null
             */
            max_depth?: number | null;
            /**
             * Format: int32
             * @description Jobs that run at a time.
             * @default null
             */
            max_running?: number | null;
            /**
             * @description Starts per period.
             * @default null
             * @example 100/1m
             */
            rate?: string | null;
        };
        /** @description Changes to limits; what is left out stays as it is, and `none` lifts a limit. */
        QueueLimitsPut: {
            /**
             * Format: int32
             * @description Starts at once after a pause; a tenth of the rate's number if it is never given.
             * @default null
             */
            burst?: number | null;
            /**
             * Format: int32
             * @description Jobs that wait, or `none`.
             * @default null
             */
            max_depth?: number | null;
            /**
             * Format: int32
             * @description Jobs that run at a time, or `none`.
             * @default null
             */
            max_running?: number | null;
            /**
             * @description Starts per period, or `none`.
             * @default null
             * @example 100/1m
             */
            rate?: string | null;
        };
        /** @description Changes to a queue's settings; what is left out stays as it is. */
        QueuePut: {
            /** @default null */
            ageing?: components["schemas"]["AgeingBody"] | null;
            /** @default null */
            block?: components["schemas"]["HumanDuration"] | null;
            /**
             * @description Submissions are refused; what is there runs.
             * @default null
             */
            draining?: boolean | null;
            /** @default null */
            key_limits?: components["schemas"]["QueueLimitsPut"] | null;
            /** @default null */
            limits?: components["schemas"]["QueueLimitsPut"] | null;
            /**
             * @description Nothing of it starts; submissions are accepted.
             * @default null
             */
            paused?: boolean | null;
            /**
             * @description Which worker gets the next job.
             * @default null
             */
            policy?: string | null;
            /**
             * Format: int32
             * @description A worker starts jobs of queues with a larger precedence first: -128 to 127.
             * @default null
             */
            precedence?: number | null;
            /** @default null */
            retention?: components["schemas"]["RetentionPut"] | null;
            /**
             * Format: int32
             * @description Its share of the starts among the queues of the same precedence that a worker serves: 1 to 1000.
             * @default null
             */
            weight?: number | null;
        };
        /** @description Every queue. */
        QueuesBody: {
            /** @description The queues, by name. */
            items: components["schemas"]["QueueBody"][];
        };
        /** @description Whether the server is ready, check by check. */
        ReadyBody: {
            /** @description The checks. */
            checks: components["schemas"]["CheckBody"][];
            /**
             * Format: date-time
             * @description What time it is on the server.
             */
            now?: string | null;
            /** @description Every check is well. */
            ready: boolean;
        };
        /** @description What a group of failures did in a window. */
        RecentBody: {
            /**
             * Format: int64
             * @description Attempts that failed so in the window.
             */
            count: number;
            /**
             * Format: double
             * @description What part of its kind's attempts that is, of those that started in the window: 0 to 1. Absent if that is not known.
             */
            share?: number | null;
            /** @description The same for each step of the window, the oldest first. */
            trend: number[];
        };
        /** @description A report that counts. */
        RecordedBody: {
            recorded: boolean;
        };
        /** @description The next access token. */
        RefreshRequest: {
            /**
             * @description What the login, or the last refresh, gave.
             * @default
             */
            refresh_token?: string;
        };
        /** @description A refresh token that is to be taken for the next one. */
        RefreshToken: {
            refresh_token: string;
        };
        /** @description A job, and how it is related to the one that was asked about. */
        RelatedBody: {
            /** @description The other job. */
            id: string;
            /** @description Its kind. */
            kind?: string | null;
            /** @description What the child does if the parent dies or is cancelled: `cancel`, `run` or `wait`. */
            on_dead: string;
            /** @description Its queue. */
            queue?: string | null;
            /** @description How the parent ended, once the child need not wait for it any more. */
            settled?: string | null;
            /** @description Where it is now; nothing if it is not kept any more. */
            state?: string | null;
        };
        /** @description A page of related jobs, oldest first. */
        RelatedPage: {
            /** @description The jobs. */
            items: components["schemas"]["RelatedBody"][];
            /** @description Where the next page begins; nothing at the end. */
            next_cursor?: string | null;
        };
        /** @description What a job waits for and what waits for it: the first fifty of each. */
        RelationsBody: {
            /** @description Those that wait for it, or waited. */
            children: components["schemas"]["RelatedPage"];
            /** @description Those that it waits for, or waited for. */
            parents: components["schemas"]["RelatedPage"];
        };
        /** @description How a job is handed back. */
        ReleaseRequest: {
            /**
             * @description Whether its work was begun; true if not given.
             * @default null
             */
            started?: boolean | null;
        };
        /** @description How long final jobs are kept. */
        RetentionBody: {
            /**
             * @description Dead jobs: a duration or `forever`.
             * @example 90d
             */
            dead: string;
            /**
             * @description Succeeded and cancelled jobs: a duration, `none` or `forever`.
             * @example 7d
             */
            finished: string;
        };
        /** @description Changes to a queue's retention. */
        RetentionPut: {
            /**
             * @description Dead jobs: a duration or `forever`; `none` is refused, a dead job is never dropped unseen.
             * @default null
             * @example 90d
             */
            dead?: string | null;
            /**
             * @description Succeeded and cancelled jobs: a duration, `none` or `forever`.
             * @default null
             * @example 7d
             */
            finished?: string | null;
        };
        /** @description A retry policy. */
        RetryBody: {
            /** @description Delay after the first failure. */
            base: components["schemas"]["HumanDuration"];
            /**
             * Format: double
             * @description What the delay is multiplied with after each further failure.
             */
            factor: number;
            /**
             * Format: double
             * @description Random addition, as a fraction of the delay.
             */
            jitter: number;
            /** @description The delay, before jitter, never exceeds this. */
            max: components["schemas"]["HumanDuration"];
        };
        /** @description A retry policy as a client gives it; what is left out keeps its default. */
        RetryRequest: {
            /** @default null */
            base?: components["schemas"]["HumanDuration"] | null;
            /**
             * Format: double
             * @description What the delay is multiplied with after each further failure.
             * @default null
             */
            factor?: number | null;
            /**
             * Format: double
             * @description Random addition, as a fraction of the delay.
             * @default null
             */
            jitter?: number | null;
            /** @default null */
            max?: components["schemas"]["HumanDuration"] | null;
        };
        /** @description How many workers a queue could use. */
        ScalingBody: {
            /**
             * Format: int32
             * @description Workers that would hold those threads.
             */
            desired_workers: number;
            /**
             * Format: double
             * @description How long the first job in line has been ready; 0 if there is none.
             */
            oldest_ready_seconds: number;
            /** @description The queue. */
            queue: string;
            /**
             * Format: int64
             * @description Jobs that could start.
             */
            ready: number;
            /**
             * Format: int64
             * @description Jobs that run.
             */
            running: number;
            /**
             * Format: int64
             * @description Threads that would be in use if there were room for all.
             */
            threads: number;
            /**
             * Format: int32
             * @description Threads of a worker that was reckoned with.
             */
            threads_per_worker: number;
            /**
             * Format: int64
             * @description Workers that serve it.
             */
            workers: number;
        };
        /** @description How much a list looked at. */
        ScanBody: {
            /** @description Whether every row that could match was; if not, the next page continues the search. */
            complete: boolean;
            /** @description Rows that were looked at. */
            examined: number;
            /** @description `index`: only rows that match were looked at. `bounded`: others too, up to 100,000 of them. */
            mode: components["schemas"]["ScanMode"];
        };
        /**
         * @description How rows were found.
         * @enum {string}
         */
        ScanMode: "index" | "bounded";
        /** @description A schedule, with every default spelled out. */
        ScheduleBody: {
            /**
             * Format: date-time
             * @description Its only instant, if it has one.
             */
            at?: string | null;
            /** @description Its cron expression, if it has one. */
            cron?: string | null;
            /**
             * Format: date-time
             * @description It fires nothing after.
             */
            ends_at?: string | null;
            every?: components["schemas"]["HumanDuration"] | null;
            /** @description Its identity: one that was deleted and made again is another. Missing in a preview. */
            id?: string | null;
            /** @description Each job waits a while that is its own, up to this. */
            jitter: components["schemas"]["HumanDuration"];
            /** @description What it submits; what has its default is left out. */
            job: components["schemas"]["NewJobRequest"];
            /** @description `fire_once`, `fire_all` or `skip`. */
            misfire: string;
            misfire_window?: components["schemas"]["HumanDuration"] | null;
            /** @description Its name. */
            name: string;
            /** @description `skip`, `allow`, `queue_one` or `cancel_previous`. */
            overlap: string;
            /** @description Whether it fires nothing at present. */
            paused: boolean;
            /**
             * Format: date-time
             * @description It fires nothing before.
             */
            starts_at?: string | null;
            status?: components["schemas"]["ScheduleStatus"] | null;
            /** @description The zone of its local times. */
            time_zone: string;
        };
        /** @description What a schedule would be, and when it would fire. */
        SchedulePreview: {
            /** @description Its next instants. */
            next: components["schemas"]["InstantBody"][];
            /** @description With every default spelled out. */
            schedule: components["schemas"]["ScheduleBody"];
        };
        /** @description A schedule as a client asks for it: one of `cron`, `every` and `at`, and the job that it submits. */
        ScheduleRequest: {
            /**
             * Format: date-time
             * @description The only instant.
             * @default null
             */
            at?: string | null;
            /**
             * @description Five fields (minute, hour, day, month, weekday) or six with seconds first, or `@daily` and its like.
             * @default null
             * @example 30 2 * * MON-FRI
             */
            cron?: string | null;
            /**
             * Format: date-time
             * @description It fires nothing after.
             * @default null
             */
            ends_at?: string | null;
            /** @default null */
            every?: components["schemas"]["HumanDuration"] | null;
            /** @default null */
            jitter?: components["schemas"]["HumanDuration"] | null;
            /**
             * @description What it submits, without `run_at`, `delay`, `expires_at` and `durability`.
             * @default {
             *       "kind": ""
             *     }
             */
            job: components["schemas"]["NewJobRequest"];
            /**
             * @description What becomes of instants at which nobody was there: `fire_once` (the last of them; default), `fire_all` or `skip`.
             * @default null
             */
            misfire?: string | null;
            /** @default null */
            misfire_window?: components["schemas"]["HumanDuration"] | null;
            /**
             * @description Its name, if the path does not say it.
             * @default null
             */
            name?: string | null;
            /**
             * @description What happens while a job of it is not final: `skip` (default), `allow`, `queue_one` or `cancel_previous`.
             * @default null
             */
            overlap?: string | null;
            /**
             * @description It fires nothing until it is resumed. Left out, a schedule that exists stays as it is.
             * @default null
             */
            paused?: boolean | null;
            /**
             * Format: date-time
             * @description It fires nothing before.
             * @default null
             */
            starts_at?: string | null;
            /**
             * @description IANA name of the zone of a cron expression; `UTC` if not given.
             * @default null
             * @example Europe/Berlin
             */
            time_zone?: string | null;
        };
        /** @description How a schedule is doing. */
        ScheduleStatus: {
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description Jobs of it that are not final. */
            live: string[];
            /**
             * Format: date-time
             * @description Its next instant, if there is one.
             */
            next?: string | null;
            /**
             * Format: int64
             * @description How long an instant is due without having been decided, if for more than a minute.
             */
            overdue_ms?: number | null;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updated_at: string;
            /**
             * Format: date-time
             * @description An occurrence that waits for the job before it.
             */
            waiting?: string | null;
        };
        /** @description Schedules, by name. */
        SchedulesBody: {
            /** @description Those of this page. */
            items: components["schemas"]["ScheduleBody"][];
            /** @description Where the next page begins; missing on the last one. */
            next_cursor?: string | null;
        };
        /** @description One line. */
        SeriesBody: {
            /** @description Its queue or kind; absent if everything is one line. */
            name?: string | null;
            /** @description One for each step, in order, those in which nothing happened included. */
            points: components["schemas"]["PointBody"][];
            /** @description Everything together. */
            total: components["schemas"]["FigureBody"];
        };
        /** @description A server. */
        ServerBody: {
            /** @description Where it is reached. */
            address: string;
            /** @description Its name: another one at each start. */
            name: string;
            /** @description What it does: leader or standby. */
            role: string;
            /**
             * Format: int64
             * @description How long ago it said that it lives.
             */
            silent_ms: number;
            /**
             * Format: date-time
             * @description When it started.
             */
            started_at: string;
            /** @description Version of its software. */
            version: string;
        };
        /** @description A setting in force. */
        SettingBody: {
            /** @description Where it came from: a flag, the environment, a file or the default. */
            origin: string;
            /** @description Its name in a settings file. */
            setting: string;
            /** @description Its value; a secret is masked. */
            value: string;
        };
        /** @description The whole, in numbers. */
        StatsBody: {
            /** @description Jobs by queue and kind. */
            by_kind: components["schemas"]["KindStatsBody"][];
            /**
             * Format: int64
             * @description Queued jobs that do not start as things are: their queue is paused, or no connected worker fits.
             */
            cannot_start?: number;
            /** @description All jobs by state. */
            jobs: components["schemas"]["CountsBody"];
            /** @description Changes that wait to be written. */
            store_backlog: number;
            /** @description Why nothing can be written at present, if so. */
            store_trouble?: string | null;
            /**
             * Format: int64
             * @description The leader's term.
             */
            term: number;
            /**
             * Format: int64
             * @description Threads of all workers.
             */
            threads: number;
            /**
             * Format: int64
             * @description Threads in use.
             */
            threads_used: number;
            verdict?: components["schemas"]["VerdictBody"] | null;
            /** @description Workers by state. */
            workers: {
                [key: string]: number;
            };
        };
        /** @description A job as the submitter takes it. What else is in the body is left aside, as it was there. */
        SubmitJob: {
            /** @description Its kind; `default` if there is none. */
            name?: string | null;
            /** @description Kept byte for byte; usually a text. */
            payload?: unknown;
        };
        /** @description The receipt of a submission. The same `Idempotency-Key` gives the same receipt. */
        SubmittedBody: {
            /**
             * Format: int32
             * @description Attempts made so far.
             */
            attempt: number;
            /** @description The unique key was held: this is the job that holds it, and nothing new exists. */
            deduplicated: boolean;
            /** @description How safe the job is at this moment. */
            durability?: components["schemas"]["Durability"];
            /**
             * @description The job, for ever.
             * @example job_01J9X7QK5V8M3N2P4R6S8T0V1W
             */
            id: string;
            /** @description Its kind. */
            kind: string;
            /**
             * Format: int32
             * @description Attempts allowed in all.
             */
            max_attempts: number;
            /**
             * Format: int32
             * @description Its priority.
             */
            priority: number;
            /** @description Its queue. */
            queue: string;
            /** @description Where it was when it was taken in; of a deduplicated one, where it is. */
            state: string;
        };
        /** @description The server that was asked, and the cluster that it belongs to. */
        SystemBody: {
            /** @description What `/readyz` checks. */
            checks: components["schemas"]["CheckBody"][];
            /** @description Who leads, in which term, and who is there. */
            cluster: components["schemas"]["ClusterBody"];
            /** @description What people call this installation, if they said. */
            environment?: string | null;
            /** @description Whether everything that `/readyz` checks is well. */
            ready: boolean;
            /** @description How long things are kept. */
            retention: components["schemas"]["SystemRetentionBody"];
            /** @description The settings in force, by name; secrets are masked. Absent for callers without the permission `admin`. */
            settings?: components["schemas"]["SettingBody"][] | null;
            /** @description Where jobs are kept. */
            store: components["schemas"]["SystemStoreBody"];
            /** @description Version of the server. */
            version: string;
        };
        /** @description How long things are kept. */
        SystemRetentionBody: {
            /** @description Most entries of the audit log. */
            audit_entries: number;
            /**
             * @description Idempotency keys.
             * @example 1d
             */
            idempotency_keys: string;
            /** @description Final jobs, in queues that do not say. */
            jobs: components["schemas"]["RetentionBody"];
            /**
             * @description What happened per minute.
             * @example 7d
             */
            minutes: string;
        };
        /** @description Where jobs are kept. */
        SystemStoreBody: {
            /** @description Redis is in front of it. */
            accelerated: boolean;
            /** @description sqlite, postgres or memory. */
            kind: string;
            /** @description Its address without passwords. Absent for callers without the permission `admin`. */
            place?: string | null;
        };
        /** @description How long everything took, for final jobs. */
        Times: {
            /** Format: int64 */
            execution_time_ms: number;
            /** Format: int64 */
            queue_time_ms: number;
            /** Format: int64 */
            total_time_ms: number;
            /** Format: int32 */
            worker_threads: number;
        };
        /** @description What happened over time. */
        TimeseriesBody: {
            /** @description What the lines are: `queue` or `kind`; absent if everything is one line. */
            by?: string | null;
            /** @description When the first point begins. */
            from: string;
            /** @description What is shown. */
            metric: components["schemas"]["Metric"];
            /** @description How much was looked at. If not all of it, the oldest is missing. */
            scan: components["schemas"]["ScanBody"];
            /** @description The lines, the largest first. Beyond a number of them the rest is one, `_other`. */
            series: components["schemas"]["SeriesBody"][];
            /** @description How long a point lasts, such as `5m`. */
            step: string;
            /** @description When the last point ends. It counts what has happened so far. */
            to: string;
        };
        /** @description A token, without its secret. */
        TokenBody: {
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description By whom. */
            created_by: string;
            /** @description Queues besides, into which it may only enqueue. */
            enqueue?: string[];
            /**
             * Format: date-time
             * @description When it ends.
             */
            expires_at?: string | null;
            /** @description Identifies it. */
            id: string;
            /** @description What it is for. */
            name: string;
            /** @description With which queues. */
            queues: string[];
            /**
             * Format: int32
             * @description Requests per second; as many as it likes if not given.
             */
            rate?: number | null;
            /** @description What it may do at the most. */
            role: string;
            /** @description What of that it may do. */
            scopes: string[];
            /** @description The token itself, told once. */
            token?: string | null;
            /**
             * Format: date-time
             * @description When it was last used, give or take a minute.
             */
            used_at?: string | null;
        };
        /** @description A token that is to be made. */
        TokenRequest: {
            /**
             * @description Queues besides, into which it may only enqueue: a worker's token enqueues into the queues that it serves.
             * @default null
             */
            enqueue?: string[] | null;
            /** @default null */
            expires_in?: components["schemas"]["HumanDuration"] | null;
            /**
             * @description What it is for.
             * @default
             */
            name?: string;
            /**
             * @description Names of queues in which `*` stands for anything; all if not given.
             * @default null
             */
            queues?: string[] | null;
            /**
             * Format: int32
             * @description Requests per second.
             * @default null
             */
            rate?: number | null;
            /**
             * @description viewer, submitter, operator, worker or admin.
             * @default null
             */
            role?: string | null;
            /**
             * @description Permissions of that role; all of them if not given.
             * @default null
             */
            scopes?: string[] | null;
        };
        /** @description What a login gives. */
        Tokens: {
            /** @description Good for a quarter of an hour. */
            access_token: string;
            /** @description Good for the next one, once. */
            refresh_token: string;
        };
        /** @description Tokens. */
        TokensBody: {
            /** @description By id. */
            items: components["schemas"]["TokenBody"][];
        };
        /**
         * @description How an attempt goes on with the trace of whoever submitted the job.
         * @enum {string}
         */
        TraceRelation: "child" | "linked_root";
        /** @description Instants to come. */
        UpcomingBody: {
            /** @description In their order. */
            items: components["schemas"]["InstantBody"][];
        };
        /** @description A user. */
        UserBody: {
            /**
             * Format: date-time
             * @description When he was made known.
             */
            created_at: string;
            /** @description Whether he may not log in. */
            disabled: boolean;
            /** @description His logins at present. */
            logins: number;
            /** @description His name. */
            name: string;
            /** @description With which queues. */
            queues: string[];
            /** @description What he may do. */
            role: string;
        };
        /** @description A user that is to be made or changed. */
        UserRequest: {
            /**
             * @description Whether he may not log in.
             * @default null
             */
            disabled?: boolean | null;
            /**
             * @description His name; only where he is made.
             * @default null
             */
            name?: string | null;
            /**
             * @description 12 to 1,024 bytes.
             * @default null
             */
            password?: string | null;
            /**
             * @description Names of queues in which `*` stands for anything; all if not given.
             * @default null
             */
            queues?: string[] | null;
            /**
             * @description viewer, submitter, operator, worker or admin; viewer if not given.
             * @default null
             */
            role?: string | null;
        };
        /** @description Users. */
        UsersBody: {
            /** @description By name. */
            items: components["schemas"]["UserBody"][];
        };
        /** @description How things are. */
        VerdictBody: {
            /** @description What is not as it should be, the worst first; at most ten. */
            findings?: components["schemas"]["FindingBody"][];
            /** @description How bad the worst of it is: `ok`, `watch` or `bad`. */
            severity: string;
            /** @description One sentence. */
            text: string;
        };
        /** @description A saved view. */
        ViewBody: {
            /** @description What it is for. */
            description?: string | null;
            /** @description Its name. */
            name: string;
            /** @description Its filter. */
            query: string;
            /**
             * Format: date-time
             * @description When it was last set.
             */
            updated_at: string;
        };
        /** @description What a view is set to. */
        ViewPut: {
            /**
             * @description What it is for.
             * @default null
             */
            description?: string | null;
            /**
             * @description Its filter.
             * @default
             */
            query?: string;
        };
        /** @description Every saved view. */
        ViewsBody: {
            /** @description The views, by name. */
            items: components["schemas"]["ViewBody"][];
        };
        /** @description Who asks. */
        WhoBody: {
            /** @description Whether this server asks anybody at all. */
            authentication: boolean;
            /** @description What he may do. */
            permissions: string[];
            /** @description With which queues. */
            queues: string[];
            /**
             * Format: date-time
             * @description Until when he is believed.
             */
            until?: string | null;
            /** @description `user:…`, `token:…`, `certificate:…` or `anyone`. */
            who: string;
        };
        /** @description A window that ends now, widened to whole steps. */
        WindowBody: {
            /**
             * Format: date-time
             * @description When it begins.
             */
            from: string;
            /** @description How long a step lasts, such as `5m`. */
            step: string;
            /**
             * Format: date-time
             * @description When its last step ends, which counts what has happened so far.
             */
            to: string;
        };
        /** @description A worker: one life of a worker process. */
        WorkerBody: {
            /**
             * @description Its session.
             * @example wrk_01J9X7QK5V8M3N2P4R6S8T0V1W
             */
            id: string;
            /** @description Kinds it handles; empty means all. */
            kinds: string[];
            /** @description Its labels. */
            labels: {
                [key: string]: string;
            };
            /** @description What it holds. */
            leases: components["schemas"]["LeaseBody"][];
            left?: components["schemas"]["LeftBody"] | null;
            /** @description It lives inside the server process. */
            local: boolean;
            /** @description A name for people; not an identity. */
            name: string;
            /**
             * Format: date-time
             * @description When its session began.
             */
            opened_at: string;
            /** @description Queues it serves; empty means all. */
            queues: string[];
            /**
             * Format: int64
             * @description How long ago it was last heard.
             */
            silent_ms: number;
            /** @description available, busy, draining, unavailable, lost or gone. */
            state: string;
            /** @description Handlers that were told to stop and did not. */
            stuck: number;
            /**
             * Format: int32
             * @description Its capacity.
             */
            threads: number;
            /**
             * Format: int32
             * @description Threads in use, those of stuck handlers included.
             */
            threads_used: number;
            /** @description Version of its software. */
            version: string;
        };
        /** @description Every worker, lost ones of the last hour included. */
        WorkersBody: {
            /** @description The workers. */
            items: components["schemas"]["WorkerBody"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
