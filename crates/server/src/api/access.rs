//! Users, logins and tokens.

use ganger_core::Wall;
use ganger_core::access::{Permission, Role, Token, User};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::HumanDuration;

/// A login.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LoginRequest {
    /// The user.
    pub name: String,
    /// His password.
    pub password: String,
}

/// The next access token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RefreshRequest {
    /// What the login, or the last refresh, gave.
    pub refresh_token: String,
}

/// The end of a login.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogoutRequest {
    /// All logins of the user, not only this one.
    pub everywhere: bool,
}

/// Another password.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PasswordRequest {
    /// The present one.
    pub present: String,
    /// The next one.
    pub next: String,
}

/// What a login gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LoggedInBody {
    /// To be sent as `Authorization: Bearer …`; empty if it is in a cookie.
    pub access_token: String,
    /// Always `Bearer`.
    pub token_type: String,
    /// Seconds for which the access token holds.
    pub expires_in: u64,
    /// Gives the next access token, once; empty if it is in a cookie.
    pub refresh_token: String,
    /// The user.
    pub name: String,
    /// What he may do.
    #[schema(value_type = String)]
    pub role: Role,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WhoBody {
    /// `user:…`, `token:…`, `certificate:…` or `anyone`.
    pub who: String,
    /// What he may do.
    #[schema(value_type = Vec<String>)]
    pub permissions: Vec<Permission>,
    /// With which queues.
    pub queues: Vec<String>,
    /// Until when he is believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Wall>,
    /// Whether this server asks anybody at all.
    pub authentication: bool,
}

/// A user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UserBody {
    /// His name.
    pub name: String,
    /// What he may do.
    #[schema(value_type = String)]
    pub role: Role,
    /// With which queues.
    pub queues: Vec<String>,
    /// Whether he may not log in.
    pub disabled: bool,
    /// His logins at present.
    pub logins: usize,
    /// When he was made known.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Wall,
}

impl UserBody {
    /// A user of that name.
    #[must_use]
    pub fn new(name: String, user: &User) -> UserBody {
        UserBody {
            name,
            role: user.role,
            queues: user.queues.globs().to_vec(),
            disabled: user.disabled,
            logins: user.logins.len(),
            created_at: user.created_at,
        }
    }
}

/// Users.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UsersBody {
    /// By name.
    pub items: Vec<UserBody>,
}

/// A user that is to be made or changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UserRequest {
    /// His name; only where he is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// 12 to 1,024 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// viewer, submitter, operator, worker or admin; viewer if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub role: Option<Role>,
    /// Names of queues in which `*` stands for anything; all if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<Vec<String>>,
    /// Whether he may not log in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
}

/// A token, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenBody {
    /// Identifies it.
    pub id: String,
    /// What it is for.
    pub name: String,
    /// What it may do at the most.
    #[schema(value_type = String)]
    pub role: Role,
    /// What of that it may do.
    #[schema(value_type = Vec<String>)]
    pub scopes: Vec<Permission>,
    /// With which queues.
    pub queues: Vec<String>,
    /// Queues besides, into which it may only enqueue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub enqueue: Vec<String>,
    /// Requests per second; as many as it likes if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<u32>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Wall,
    /// By whom.
    pub created_by: String,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Wall>,
    /// When it was last used, give or take a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub used_at: Option<Wall>,
    /// The token itself, told once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

impl TokenBody {
    /// A token of that id.
    #[must_use]
    pub fn new(id: String, token: Token) -> TokenBody {
        TokenBody {
            id,
            name: token.name,
            role: token.role,
            scopes: token.scopes.each().collect(),
            queues: token.queues.globs().to_vec(),
            enqueue: token.also_enqueue.map(|besides| besides.globs().to_vec()).unwrap_or_default(),
            rate: token.rate,
            created_at: token.created_at,
            created_by: token.created_by,
            expires_at: token.expires_at,
            used_at: token.used_at,
            token: None,
        }
    }
}

/// Tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokensBody {
    /// By id.
    pub items: Vec<TokenBody>,
}

/// A token that is to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TokenRequest {
    /// What it is for.
    pub name: String,
    /// viewer, submitter, operator, worker or admin.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub role: Option<Role>,
    /// Permissions of that role; all of them if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>)]
    pub scopes: Option<Vec<Permission>>,
    /// Names of queues in which `*` stands for anything; all if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<Vec<String>>,
    /// Queues besides, into which it may only enqueue: a worker's token enqueues into the queues that it serves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enqueue: Option<Vec<String>>,
    /// How long it holds, such as `90d`; without an end if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<HumanDuration>,
    /// Requests per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<u32>,
}
