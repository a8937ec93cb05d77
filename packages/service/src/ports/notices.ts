/** A mail of NOVA's own, as text. */
export interface Notice {
  to: string[];
  /** Absent: the deployment's address. */
  from?: string;
  subject: string;
  text: string;
}

export interface Mailer {
  /** Throws where it is not taken. */
  send(notice: Notice): Promise<void>;
}

/** Posts to addresses that others have chosen. */
export interface Poster {
  /** Throws `HostRefused` where it may not be posted to, `PostFailed` where it is not taken. */
  post(request: { url: string; body: string; headers: Record<string, string> }): Promise<void>;
}
