import { describe, expect, test } from 'vitest';
import { isHeavyText, mayBeHeavy } from './heavy-command.ts';

const isHeavy = (script: string, also?: readonly string[]): Promise<boolean> =>
  isHeavyText(script, '/work', also);

const HEAVY = `
  npm test
  npm t
  npm ci
  npm install --no-audit --no-fund
  npm run build
  npm run test:unit -- --reporter=dot
  npm run -w packages/ramet build
  npm --prefix web run build:prod
  npm run typecheck
  npm run lint
  npm exec -- vitest run
  npx vitest run --project unit src
  npx -y -p typescript tsc --noEmit
  npx jest --coverage
  pnpm -r test
  pnpm --filter web build
  pnpm install --frozen-lockfile
  pnpm exec tsc -p .
  yarn
  yarn build
  yarn workspace web test
  yarn workspaces foreach -A run build
  bun test
  bun run build
  node_modules/.bin/vitest run
  ./node_modules/.bin/tsc -b
  tsc --noEmit
  cross-env NODE_ENV=test npm test
  vite build
  next build
  webpack --mode production
  playwright test
  turbo run build
  nx run web:build
  lerna run test
  node --test
  node --experimental-strip-types --test test/
  node scripts/build.mjs
  deno test
  cargo build --release
  cargo +nightly test --workspace
  cargo clippy --all-targets
  cargo nextest run
  go build ./...
  go test ./... -race
  make
  make -j8
  make -j 8 -C build all
  make test
  make -f Makefile.dev check
  cmake --build build --parallel
  ctest --test-dir build
  ninja -C out
  meson compile -C build
  bazel test //...
  pytest -q tests/unit
  python -m pytest -x
  python3 -m unittest discover
  uv run pytest
  poetry run pytest
  uv sync
  pip install -r requirements.txt
  tox -e py312
  mypy src
  mvn -q verify
  ./mvnw package
  ./gradlew build
  gradle test
  dotnet build
  dotnet test --no-build
  swift build
  docker build -t app .
  docker compose build web
  docker buildx build .
  bundle exec rspec
  rake test
  mix test
  ./configure --prefix=/opt
  ./run_tests.sh
  bash scripts/ci-build.sh
  sh -c 'npm test'
  bash -lc 'cd web && npm run build'
  bash -c 'set -e; make -j4'
  cd packages/ramet && npm test
  CI=1 NODE_ENV=test npm test 2>&1 | tail -20
  time npm test
  nice -n 10 cargo test
  timeout 300 npm test
  timeout -k 5 300 go test ./...
  env CI=1 npm test
  ionice -c 3 make
  (cd web && yarn build)
  git pull && npm ci && npm test
  npm test > log 2>&1 || tail log
  for p in a b; do npm test -w $p; done
  if ! npm test; then echo bad; fi
  just test
`;

const LIGHT = `
  ls
  git status
  git commit -m 'npm test passes'
  echo npm test
  cat Makefile package.json
  grep -rn "npm run build" .
  rg pytest
  npm --version
  npm view react version
  npm ls
  npm run
  npm run lint --help
  npm run dev
  npm run start:server
  npm run test:watch
  npm run build -- --watch
  npx vitest --watch
  npx vitest watch
  npx prettier --write src
  npx --help
  yarn dev
  pnpm why react
  bun add --help
  node server.js
  node -e 'console.log("test")'
  python -c 'import a.test'
  python3 manage.py runserver
  vite
  next dev
  cargo --version
  cargo fmt
  cargo add serde
  go version
  go fmt ./...
  go mod tidy
  make -n
  make --help
  make clean
  make dev
  make run
  cmake -S . -B build
  pytest --collect-only
  pytest --version
  mvn -v
  tsc --version
  docker ps
  docker compose up
  docker run app npm test
  bundle exec rails server
  mkdir build
  rm -rf build dist
  cd test
  ls test build
  cp test.txt build/
  test -f build
  /usr/bin/test -e x
  [ -d build ] && echo yes
  sed -i s/test/x/ a
  ramet merge --check 'npm test'
  just --list
`;

const lines = (text: string): string[] => text.trim().split(/\n\s*/);

describe('OP-3: heavy commands are told by how they are called', () => {
  test.each(lines(HEAVY))('heavy: %s', async (script) => expect(await isHeavy(script)).toBe(true));

  test.each(lines(LIGHT))('light: %s', async (script) => expect(await isHeavy(script)).toBe(false));

  test('settings add commands by how they begin, and take some away', async () => {
    const also = ['bin/verify', 'terraform apply', '!make docs', '!npm run check'];
    expect(await isHeavy('cd infra && terraform apply -auto-approve', also)).toBe(true);
    expect(await isHeavy('terraform plan', also)).toBe(false);
    expect(await isHeavy('bin/verify', also)).toBe(true);
    expect(await isHeavy('make docs', also)).toBe(false);
    expect(await isHeavy('make', also)).toBe(true);
    expect(await isHeavy('npm run check', also)).toBe(false);
  });

  test('most commands are not even read', () => {
    for (const script of ['ls -la', 'git add --all && git commit -m x', 'sed -n 1,20p a.ts', 'cat README.md'])
      expect(mayBeHeavy(script)).toBe(false);
    expect(mayBeHeavy('a=1 '.repeat(1_000_000))).toBe(false);
  });
});
