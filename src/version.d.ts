/** The package's version, put in by the build. */
declare const __BANYAN_VERSION__: string;
