import { useMutation } from "@tanstack/react-query";
import type { JSX } from "react";
import { useNova } from "../../api/nova.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { texts } from "../../texts.ts";

const words = texts.clients;

/** Seals every credential with a new key, and says which no key opens any more. */
export function RotateCredentials({ onClose }: { onClose(): void }): JSX.Element {
  const nova = useNova();
  const rotate = useMutation({ mutationFn: () => nova.credentials.rotate() });
  const { data } = rotate;
  return (
    <Dialog
      title={data ? words.rotate : words.confirmRotate}
      onClose={onClose}
      actions={
        data ? (
          <Button tone="main" onClick={onClose}>
            {texts.common.close}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{texts.common.cancel}</Button>
            <Button tone="main" disabled={rotate.isPending} onClick={() => rotate.mutate()}>
              {words.rotate}
            </Button>
          </>
        )
      }
    >
      <div className="form" role="status">
        {data ? <p>{words.rotated(data.sealed)}</p> : <p className="quiet">{words.rotateHint}</p>}
        {data && data.locked.length > 0 && (
          <>
            <p>{words.locked}</p>
            <ul className="mono">
              {data.locked.map((name) => (
                <li key={name}>{name}</li>
              ))}
            </ul>
          </>
        )}
        <Trouble error={rotate.error} />
      </div>
    </Dialog>
  );
}
