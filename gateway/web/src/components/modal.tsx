// What do all dialogs have in common? The platform's: focus stays inside, Escape closes, the rest is inert.

import { type ReactNode, type SyntheticEvent, useEffect, useId, useRef } from "react";

interface ModalProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

export function Modal({ title, onClose, children }: ModalProps) {
  const dialog = useModal();
  const id = useId();
  return (
    <dialog
      ref={dialog}
      className="modal"
      aria-labelledby={id}
      onClose={(event) => whenClosed(event, onClose)}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** The event comes late: the dialog may be open again (React's strict mode mounts it twice). */
export function whenClosed(event: SyntheticEvent<HTMLDialogElement>, onClose: () => void): void {
  if (!event.currentTarget.open) {
    onClose();
  }
}

export function useModal() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    if (element !== null && !element.open) {
      element.showModal();
    }
    return () => element?.close();
  }, []);
  return dialog;
}

interface ConfirmProps {
  title: string;
  text: string;
  action: string;
  onConfirm: () => void;
  onClose: () => void;
}

export function Confirm({ title, text, action, onConfirm, onClose }: ConfirmProps) {
  return (
    <Modal title={title} onClose={onClose}>
      <p>{text}</p>
      <div className="button-row end">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="button danger"
          onClick={() => {
            onConfirm();
            onClose();
          }}
        >
          {action}
        </button>
      </div>
    </Modal>
  );
}
