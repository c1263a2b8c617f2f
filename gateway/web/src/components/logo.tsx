export function Logo({ size = 26 }: { size?: number }) {
  return (
    <svg className="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="9" className="logo-ground" />
      <path
        className="logo-house"
        d="M8.5 15.2 16 8.6l7.5 6.6v6.3a2.4 2.4 0 0 1-2.4 2.4h-5.6l-3.9 2.7v-2.7h-.7a2.4 2.4 0 0 1-2.4-2.4z"
      />
      <circle cx="13" cy="17.6" r="1.5" className="logo-ground" />
      <circle cx="19" cy="17.6" r="1.5" className="logo-ground" />
    </svg>
  );
}
