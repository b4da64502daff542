import { expect, test } from 'vitest';
import { BASE62, seededRandom } from '../../../test/fixtures/seeded-random.ts';
import { secretsIn } from './secret-guard.ts';

const SEED = 29;
/** Of 32 bytes, as keys have them. */
const JWK_X = 'q3zAwR_kUwtdLEwtB2oVfucXiLHmEhu9bJUFYjJxYGs';

test.each([
  ...[
    'Das Passwort ist Sommer2024!',
    'Kennwort des Admins lautet Win@ter80',
    'WLAN-Schl\u00fcssel: Wombat856',
  ],
  ...[
    'Datenbankpasswort: Sommer2024!',
    'Die PIN ist 5936.',
    'Zugangscode: Sommer2024!',
    'Geheimnis: Win@ter80',
  ],
  ...['Le mot de passe du serveur est Pur!ple18.', 'mdp: 4Ljh#epiy7q', 'Code d\u2019acc\u00e8s : 482913'],
  ...[
    'le mot de passe \u00ab\u00a0Pur!ple18\u00a0\u00bb',
    'La cl\u00e9 API est Wombat856x',
    'Zugangsdaten: admin / Banane77',
  ],
  ...['La contrase\u00f1a es Tiger-v61M-343', 'La password \u00e8 Win@ter80', 'A senha \u00e9 Win@ter80'],
  ...[
    'Het wachtwoord is Win@ter80',
    'L\u00f6senordet \u00e4r Win@ter80',
    'usa Win@ter80 como contrase\u00f1a',
  ],
])('finds in another language the secret of %j', (line) => {
  expect(secretsIn(`- ${line}`)).toMatchObject([{ line: 1 }]);
});

test.each([
  ...[
    "My password's Passion-pOAO-839",
    'The master password, Mon$day99, is in the safe.',
    'pass: Monday1668',
  ],
  ...['We changed the db password from Lin@ux18 to something else.', 'I use E1Ru!GVaKmx for the password.'],
  ...['temp pw Mon$day74', 'password reset: new one is Purple77x!', 'session.setPassword("P4ssi0n_IOQ!")'],
  ...['SET PASSWORD FOR root = PASSWORD("Monday-pPim-374")', "CREATE USER x IDENTIFIED BY 'Linux-8DZ5-670'"],
  ...['requirepass Dr4g0n_yQ5!', 'masterauth Wombat4uX!', 'secretKey: !!str Purple-B2Ul-29', 'PIN 8812'],
  ...['ConvertTo-SecureString "s256*Nndc7i" -AsPlainText -Force', 'ssh-keygen -N 5wPiaBpjs0DM -f k'],
  ...['xfreerdp /u:admin /p:hP4YDjSj1oIh', 'mc alias set m http://m:9000 minioadmin Winhter76'],
  ...['net use Z: \\\\srv\\share xfJOquWrO6yh /user:admin', 'sudo -S <<< Dragon-C0mN-948 apt update'],
  ...[
    'db.connect("localhost", "root", "F4lc0n_7Mr!")',
    "INSERT INTO u (a, password) VALUES (1, 'Som!mer72')",
  ],
  ...['sign in as admin with Monday-5irK-909', 'admin:Sommer852%', 'the passcode for the room is 422723'],
  ...[
    `seed phrase: ${'abandon ability able about '.repeat(3).trim()}`,
    `bitlocker: ${'123456-'.repeat(7)}123457`,
  ],
  ...[
    `{"kty":"OKP","x":"${JWK_X}","d":"${JWK_X.slice(1)}f"}`,
    `root:$6$abcdefgh$${JWK_X.slice(8)}${JWK_X.slice(8)}`,
  ],
])('finds the secret of %j, which people write in passing', (line) => {
  expect(secretsIn(`- ${line}`)).toMatchObject([{ line: 1 }]);
});

test('finds a private key whose beginning was cut off', () => {
  const random = seededRandom(SEED);
  const lines = [64, 64, 30].map((length) => random.text(`${BASE62}+/`, length));
  const end = '-----END PRIVATE KEY-----';
  expect(secretsIn(`${lines.join('\n')}\n${end}\n`)).toContainEqual({ rule: 'private key', line: 3 });
  expect(secretsIn(`A key ends with\n${end}\n`)).toEqual([]);
});

test.each([
  ...['*//*! x */a{color:#e7e7e7}@media print{b{color:#000}}', 'const token = getCsrfToken(csrfCookieName);'],
  ...['let auth = Arc::new(Mutex::new(Vec::new()));', 'auth := node.NewJWTAuth(jwtSecret)'],
  ...['password = ReadOnlyPasswordHashField()', "keys: Pick<typeof jose, 'generateSecret' | 'importJWK'>,"],
  ...['password: pyo3::pybacked::PyBackedBytes,', "private_key: &pyo3::Bound<'_, pyo3::PyAny>,"],
  ...['SecretKeyFactory.getInstance("PBKDF2WithHmacSHA512")', 'Some(pbe::PBESv2SHA256AndAES256CBC),'],
  ...['openssl req -new -key jbeda.pem -out jbeda-csr.pem -subj "/CN=jbeda/O=app1/O=app2"'],
  ...['[FusionAuth 5-minute setup guide](https://fusionauth.io/docs/v1/tech/5-minute-setup-guide)'],
  ...[
    '``login`` \u30b3\u30de\u30f3\u30c9\u3092\u4f7f\u7528\u3057\u3066Galaxy\u306eWeb\u30b5\u30a4\u30c82\u3067',
  ],
  ...[
    `node-csr-${JWK_X}   18s   Pending`,
    `crv: 'P-256', x: '${JWK_X}'`,
    "stub(api.secrets, 'totpCreateKey')",
  ],
  ...[
    'Das Passwort ist im Tresor, die PIN kennt Kim.',
    'Der Schl\u00fcssel lautet wie der Name der Tabelle.',
  ],
  ...[
    'Le mot de passe est dans le coffre.',
    'La clave es el id del usuario',
    'Il codice \u00e8 in src/auth2/main.ts',
  ],
  ...['Client.connect("production.example.net:7233")', 'msbuild /p:Configuration=Release2 /p:Platform=x64'],
  ...['getPasswordHash("Winter2024x")', 'The login page, with `error=CredentialsSignin&code=credentials`.'],
])('says nothing about %j, which has none', (line) => {
  expect(secretsIn(`- ${line}`)).toEqual([]);
});
