// The words that the bench's records are made of: companies, people, goods, remarks.

/** A word and its reading in kana. */
export type Word = readonly [text: string, kana: string];

const BRAND_FIRST = words('大ダイ 東トウ 日ニチ 三サン 光コウ 新シン 共キョウ 北ホク');
const BRAND_SECOND = words('和ワ 洋ヨウ 栄エイ 成セイ 進シン 明メイ 陽ヨウ 豊ホウ');

/** Two-kanji company names, each of which about one company in a hundred bears. */
export const BRANDS: readonly Word[] = BRAND_FIRST.flatMap((first) =>
  BRAND_SECOND.map((second): Word => [first[0] + second[0], first[1] + second[1]]),
);

// 128 kanji that no other word here contains, so that a pair of them occurs where it is planted and nowhere else.
const RARE_KANJI = words(
  '鸚オウ 鵡ム 翡ヒ 翠スイ 琥コ 珀ハク 瑪メ 瑙ノウ 珊サン 瑚ゴ 鳳ホウ 凰オウ 麒キ 麟リン 駿シュン 鶯オウ ' +
    '鷺ロ 鷹ヨウ 鷲シュウ 鵬ホウ 鴻コウ 鶴カク 鳩キュウ 雀ジャク 燕エン 隼ジュン 蝶チョウ 螢ケイ 蜻セイ 蛉レイ 葵キ 菫キン ' +
    '菖ショウ 蒲ホ 薔ショウ 薇ビ 蓮レン 芙フ 蓉ヨウ 桔キツ 梗コウ 橘キツ 柊シュウ 楓フウ 椿チン 榊シン 檜カイ 桐トウ ' +
    '梓シ 槐カイ 樟ショウ 欅キョ 櫻オウ 茜セン 藍ラン 紫シ 緋ヒ 瑠ル 璃リ 玻ハ 瓔ヨウ 珞ラク 瑞ズイ 瑛エイ ' +
    '玲レイ 琳リン 琶ハ 琵ビ 笙ショウ 篳ヒチ 篥リキ 皐コウ 朔サク 晦カイ 暁ギョウ 曙ショ 昴ボウ 昂コウ 彗スイ 霞カ ' +
    '霧ム 霰サン 雫ダ 霙エイ 颯サツ 凪ナギ 嵐ラン 渚ショ 汐セキ 澪レイ 漣レン 瀧ロウ 濤トウ 滸コ 渥アク 湊ソウ ' +
    '沫マツ 巖ガン 峻シュン 嶺レイ 崑コン 崙ロン 嵯サ 峨ガ 峯ホウ 劉リュウ 亮リョウ 伶レイ 侑ユウ 俐リ 倭ワ 偲シ ' +
    '冴ゴ 凛リン 凌リョウ 勁ケイ 匡キョウ 厩キュウ 叡エイ 哉サイ 喬キョウ 堯ギョウ 奎ケイ 媛エン 嬉キ 孟モウ 宥ユウ 宕トウ',
);

/** How many rare words there are: every ordered pair of the rare kanji. */
export const RARE_WORDS = RARE_KANJI.length ** 2;

/** The rare word of an index, such as 鸚鵡. */
export function rareWord(index: number): Word {
  const first = RARE_KANJI[Math.floor(index / RARE_KANJI.length) % RARE_KANJI.length] as Word;
  const second = RARE_KANJI[(index + 1) % RARE_KANJI.length] as Word;
  return [first[0] + second[0], first[1] + second[1]];
}

export const SURNAMES: readonly Word[] = words(
  '佐藤サトウ 鈴木スズキ 高橋タカハシ 田中タナカ 伊藤イトウ 渡辺ワタナベ 山本ヤマモト 中村ナカムラ 小林コバヤシ 加藤カトウ ' +
    '吉田ヨシダ 山田ヤマダ 佐々木ササキ 山口ヤマグチ 松本マツモト 井上イノウエ 木村キムラ 林ハヤシ 斎藤サイトウ 清水シミズ ' +
    '山崎ヤマザキ 森モリ 池田イケダ 橋本ハシモト 阿部アベ 石川イシカワ 山下ヤマシタ 中島ナカジマ 石井イシイ 小川オガワ ' +
    '前田マエダ 岡田オカダ 長谷川ハセガワ 藤田フジタ 後藤ゴトウ 近藤コンドウ 村上ムラカミ 遠藤エンドウ 青木アオキ 坂本サカモト ' +
    '福田フクダ 太田オオタ 西村ニシムラ 藤井フジイ 岡本オカモト 中野ナカノ 藤原フジワラ 三浦ミウラ 原田ハラダ 松田マツダ ' +
    '竹内タケウチ 小野オノ 田村タムラ 中山ナカヤマ 石田イシダ 上田ウエダ 森田モリタ 柴田シバタ 酒井サカイ 工藤クドウ ' +
    '横山ヨコヤマ 宮崎ミヤザキ 宮本ミヤモト 内田ウチダ 高木タカギ 安藤アンドウ 谷口タニグチ 大野オオノ 丸山マルヤマ 今井イマイ ' +
    '河野コウノ 藤本フジモト 村田ムラタ 武田タケダ 上野ウエノ 杉山スギヤマ 増田マスダ 平野ヒラノ 菅原スガワラ 千葉チバ',
);

export const GIVEN_NAMES: readonly string[] = list(
  '翔太 大輔 健一 拓也 直樹 誠 浩二 隆 剛 修 陽子 美咲 恵子 由美子 裕子 真由美 香織 智子 直美 久美子 ' +
    '結衣 さくら 優子 純一 和也 達也 哲也 正樹 俊介 雄太 彩 千尋 舞 愛 麻衣 秀樹 博 茂 実 進',
);

export const INDUSTRIES: readonly Word[] = words(
  '工業コウギョウ 商事ショウジ 建設ケンセツ 製作所セイサクショ 印刷インサツ 運輸ウンユ 食品ショクヒン 電機デンキ 化学カガク 精機セイキ ' +
    '物産ブッサン 産業サンギョウ 設備セツビ 技研ギケン 金属キンゾク 鉄工所テッコウショ 木材モクザイ 倉庫ソウコ 通商ツウショウ 薬品ヤクヒン ' +
    '機械キカイ 電子デンシ 繊維センイ 紙業シギョウ 塗装トソウ 水産スイサン 農園ノウエン 酒造シュゾウ 製菓セイカ 不動産フドウサン ' +
    '警備保障ケイビホショウ 会計事務所カイケイジムショ 硝子ガラス 樹脂ジュシ 計器ケイキ 冷熱レイネツ',
).concat([
  ['システム', 'システム'],
  ['サービス', 'サービス'],
  ['ホールディングス', 'ホールディングス'],
  ['ロジスティクス', 'ロジスティクス'],
  ['テクノ', 'テクノ'],
]);

export const BRANCHES: readonly string[] = list(
  '東京支店 大阪支店 名古屋支店 福岡支店 札幌支店 仙台営業所 広島営業所 横浜営業所 京都営業所 神戸工場 千葉工場 埼玉物流センター',
);

export const STATUSES = ['新規', '受付', '手配中', '出荷済', '請求済', '完了', '取消'] as const;
/** Share of each status in hundredths. */
export const STATUS_SHARES = [8, 12, 10, 15, 15, 35, 5] as const;

const GOODS = list(
  '六角ボルト 六角ナット 平座金 ばね座金 皿小ねじ 鍋小ねじ 止めねじ アンカーボルト 寸切りボルト タッピングねじ ' +
    '丸パイプ 角パイプ 等辺山形鋼 溝形鋼 平鋼 丸鋼 縞鋼板 パンチングメタル エキスパンドメタル 金網 ' +
    'ボールバルブ 仕切弁 逆止弁 エルボ チーズ ソケット フランジ ニップル ユニオン ガスケット ' +
    '深溝玉軸受 円すいころ軸受 Vベルト タイミングベルト スプロケット ローラーチェーン カップリング 歯車 軸受箱 Oリング ' +
    'ビニル電線 制御ケーブル 圧着端子 配線ダクト 端子台 電磁開閉器 押しボタンスイッチ 表示灯 リミットスイッチ 近接センサ',
);
const MATERIALS = list(
  'SUS304 SUS316 SS400 S45C SCM435 A5052 C3604 FC250 SPCC SGCC ナイロン ポリアセタール フッ素樹脂 シリコン NBR 塩ビ 三価クロメート 溶融亜鉛めっき 黒染め 生地',
);
const SIZES = list('M3 M4 M5 M6 M8 M10 M12 M16 M20 M24').flatMap((size) =>
  ['短', '標準', '中', '長', '特長'].map((length) => `${size} ${length}`),
);

export const PRODUCTS = GOODS.length * MATERIALS.length * SIZES.length;

/** The product of an index, such as 六角ボルト SUS304 M8 標準. */
export function productName(index: number): string {
  const size = index % SIZES.length;
  const material = Math.floor(index / SIZES.length) % MATERIALS.length;
  const goods = Math.floor(index / (SIZES.length * MATERIALS.length)) % GOODS.length;
  return `${GOODS[goods]} ${MATERIALS[material]} ${SIZES[size]}`;
}

/** Sentences of remarks; `{name}` and `{number}` are filled in. */
export const PHRASES: readonly string[] = [
  '納期厳守でお願いします。',
  '納期は分納可、残りは月末まで。',
  '{name}様より電話にて依頼あり。',
  '{name}様あてに見積書を送付済み。',
  '見積番号 Q-{number} に基づく注文。',
  '前回と同じ仕様で手配のこと。',
  '図面 No.{number} を参照。',
  '請求書は月末締め、翌月末払い。',
  '電子帳簿保存法に従い、注文書は電子データで保管。',
  '納品時に受領印をいただくこと。',
  '午前中の配達を希望。',
  '土曜日の配達は不可。',
  '搬入口は建物の裏側、4トン車まで。',
  '在庫切れの場合は代替品を提案すること。',
  '検査成績書を添付する。',
  'ミルシート要。',
  '特別価格を適用、次回からは通常価格に戻す。',
  '値引き後の金額で確定。',
  '与信限度額を確認済み。',
  '前払いのため入金確認後に出荷。',
  '別便で部品 {number} を同梱。',
  '梱包は木箱、天地無用。',
  '輸出用のため英文のインボイスを用意。',
  '担当変更のため{name}へ引き継ぎ。',
  '緊急対応につき営業時間外の連絡可。',
  '客先の都合により出荷を一週間延期。',
  '返品分 {number} 個と相殺。',
  '年間契約の対象。',
  '工事番号 K-{number} の追加分。',
  'サンプルを先に送ること。',
  '支払条件は手形90日。',
  '仕様変更の可能性あり、製造前に要確認。',
  '現場直送、荷受人は{name}様。',
  '消費税は軽減税率の対象外。',
  'クレーム対応中、{name}が折衝。',
  '倉庫の棚卸しのため出荷停止日に注意。',
  '契約書を締結済み、原本は総務で保管。',
  '展示会で名刺交換、初回取引。',
  '保守契約を更新。',
  'FAX で注文書を受領、原本は郵送。',
];

function list(text: string): string[] {
  return text.split(' ');
}

/** Splits `kanjiKANA` words where the katakana begins. */
function words(text: string): Word[] {
  return list(text).map((word) => {
    const kana = word.search(/[ァ-ヴー]+$/u);
    return [word.slice(0, kana), word.slice(kana)];
  });
}
