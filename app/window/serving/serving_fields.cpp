#include "app/window/serving/serving_fields.h"

#include "app/window/form_parts.h"
#include "base/dtype.h"
#include "methods/model/software_stack.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/common/value_edit.h"

#include <QAction>
#include <QCheckBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QRegularExpression>
#include <QVBoxLayout>

#include <limits>

namespace orrery::app {

namespace {

QFormLayout* plainForm(QWidget* on) {
    auto* form = new QFormLayout(on);
    form->setContentsMargins(0, 0, 0, 0);
    form->setVerticalSpacing(ui::Theme::instance().unit() / 2);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    return form;
}

QString idOf(const std::string& path) {
    QString id = ui::qs(path);
    if (id.startsWith(QStringLiteral("pools/"))) id.remove(0, 6);
    // Items count from 0 among controls: `tenants[1]/share` is `tenants.0.share`.
    static const QRegularExpression item(QStringLiteral("\\[(\\d+)\\]"));
    if (const auto found = item.match(id); found.hasMatch())
        id.replace(found.capturedStart(), found.capturedLength(),
                   QLatin1Char('.') + QString::number(found.captured(1).toInt() - 1));
    return QStringLiteral("serving.") + id.replace(QLatin1Char('/'), QLatin1Char('.'));
}

/// What a Text may name; lists of methods stand above the tables.
std::vector<FieldOffer> offersOf(const FieldSpec& spec, const std::string& path) {
    if (spec.offers) return spec.offers();
    std::vector<FieldOffer> all;
    if (path == "pools/time/software")
        for (const SoftwareStack& each : softwareStacks())
            all.push_back({std::string(each.id), std::string(each.title), std::string(each.source)});
    return all;
}

/// What usually stands in a limit that is not set: a bare number has its unit.
QString exampleOf(const std::string& path) {
    if (path == "promise/ttft") return QStringLiteral("500 ms");
    return path == "promise/tpot" ? QStringLiteral("50 ms") : QString();
}

/// What an edit of one value does to others, where a person would expect it.
void followEdit(ServingStudy& question, const std::string& path) {
    if (path == "router/id") {
        RouterSpec fresh;
        fresh.id = question.scenario.router.id;
        question.scenario.router = fresh;
    }
    for (PoolSpec& pool : question.scenario.pools) {
        if (path == "pools/clock" && pool.clock == ClockPolicy::Fixed && pool.clockShare >= 1) pool.clockShare = 0.8;
        if (path == "pools/speculation/draft_model" && !pool.speculation.draftModel.empty())
            pool.speculation.draftSeconds = 0;
    }
}

}  // namespace

QString fieldTip(const FieldSpec& spec) {
    QString tip = ui::windowText(spec.meaning);
    if (const std::string range = rangeText(spec); !range.empty()) tip += QLatin1Char(' ') + ui::qs(range) + u'.';
    if (!spec.none.empty())
        tip += (spec.form == FieldForm::Whole ? QStringLiteral(" 0: ") : QStringLiteral(" Empty: ")) +
               ui::qs(spec.none) + u'.';
    return tip;
}

FieldRows::FieldRows(QFormLayout* form, QWidget* parent) : QObject(parent), form_(form), parent_(parent) {}

void FieldRows::add(QWidget* control, const Name& name, bool labelled, const If& shown,
                    std::function<void(const ServingStudy&)> fill) {
    control->setObjectName(name.id);
    control->setAccessibleName(name.label);
    control->setToolTip(name.tip);
    if (labelled) {
        auto* label = new ui::Label(name.label, ui::FontRole::Body, ui::Tone::Normal, parent_);
        label->setToolTip(name.tip);
        label->setBuddy(control);
        form_->addRow(label, control);
    } else {
        form_->addRow(control);
    }
    rows_.push_back({control, shown, std::move(fill)});
}

void FieldRows::tell(QuestionChange change) {
    if (!filling_) emit edited(change);
}

void FieldRows::show(const ServingStudy& question) {
    filling_ = true;
    for (const Row& row : rows_) {
        const bool shown = !row.shown || row.shown(question);
        form_->setRowVisible(row.control, shown);
        row.fill(question);
    }
    filling_ = false;
}

void FieldRows::tellValue(const std::string& path, const FieldValue& value) {
    tell([path, value](ServingStudy& q) {
        if (setField(q, path, value)) followEdit(q, path);
    });
}

void FieldRows::claim(QWidget* control, const std::string& path) {
    control->setProperty(fieldProperty, ui::qs(path));
    claimed_.insert(path);
    if (const FieldSpec* spec = findField(path); !spec || !spec->isSwept()) return;
    auto* turn = new QAction(tr("Turn in E&xplore"), control);
    turn->setObjectName(idOf(path) + QStringLiteral(".turn"));
    turn->setToolTip(tr("Adds it as a knob to the search on the page Explore"));
    control->addAction(turn);
    // A line has its usual menu, which shows its actions too.
    if (!qobject_cast<ui::ValueEdit*>(control)) control->setContextMenuPolicy(Qt::ActionsContextMenu);
    connect(turn, &QAction::triggered, this, [this, path] { emit turnRequested(ui::qs(path)); });
}

QWidget* FieldRows::field(const std::string& path, If shown) {
    const FieldSpec& spec = *findField(path);
    if (!shown) shown = [path](const ServingStudy& q) { return fieldMatters(q, path); };
    const Name name{idOf(path), ui::qs(spec.shortTitle()), fieldTip(spec)};
    if (spec.form == FieldForm::Whole)
        wholeField(name, path, shown);
    else if (spec.form == FieldForm::Number)
        measureField(name, path, shown);
    else if (spec.form == FieldForm::Flag)
        flag(name,
             {[path](const ServingStudy& q) { return std::get<bool>(fieldValue(q, path)); },
              [path](ServingStudy& q, bool to) { setField(q, path, to); }},
             shown);
    else if (spec.form == FieldForm::Text && !spec.isId())
        textField(name, path, shown);
    else
        offeredField(name, path, shown);
    QWidget* control = rows_.back().control;
    control->setAccessibleName(ui::qs(spec.title));
    claim(control, path);
    return control;
}

void FieldRows::section(std::string_view id) {
    for (const ListedField& each : servingFields()) {
        const FieldSpec& spec = *each.spec;
        const std::string_view of = spec.section.empty() ? each.table->section : spec.section;
        const bool item =
            each.path.starts_with("tenants/") || each.path.starts_with("stages/") || each.path.starts_with("failures/");
        if (spec.isScalar() && spec.inForm && of == id && !item && !claimed_.contains(each.path)) field(each.path);
    }
}

void FieldRows::wholeField(const Name& name, const std::string& path, const If& shown) {
    const FieldSpec& spec = *findField(path);
    const int first = spec.ordinal ? 1 : 0;
    constexpr double most = std::numeric_limits<int>::max() - 1;
    auto* box = new QSpinBox(parent_);
    box->setRange(static_cast<int>(std::max(spec.range.low, -most)) + first,
                  static_cast<int>(std::min(spec.range.high, most)) + first);
    box->setGroupSeparatorShown(true);
    if (spec.range.low == 0) box->setSpecialValueText(ui::qs(spec.none));
    add(box, name, true, shown, [box, path, first](const ServingStudy& q) {
        const auto now = std::get<std::int64_t>(fieldValue(q, path));
        box->setValue(static_cast<int>(std::min<std::int64_t>(now, std::numeric_limits<int>::max() - 1)) + first);
    });
    connect(box, &QSpinBox::valueChanged, this,
            [this, path, first](int to) { tellValue(path, std::int64_t{to} - first); });
}

void FieldRows::measureField(const Name& name, const std::string& path, const If& shown) {
    const FieldSpec& spec = *findField(path);
    const Dimension dimension = spec.dimension;
    const QString unset = ui::qs(spec.none);
    auto* edit = new ui::ValueEdit(parent_);
    edit->setMeasure(dimension);
    const QString example = exampleOf(path);
    edit->setFallback(unset.isEmpty() || example.isEmpty() ? unset : tr("%1, e.g. %2").arg(unset, example));
    edit->setClearable(!unset.isEmpty());
    edit->setCheck([&spec](const QString& text) -> std::optional<Diagnostic> {
        const auto read = parseField(spec, text.trimmed().toStdString());
        if (!read) return read.error();
        auto good = checkField(spec, *read, text.toStdString(), "serving.value");
        if (good) return std::nullopt;
        return good.error();
    });
    connect(edit, &ui::ValueEdit::diagnosed, edit, [edit, tip = name.tip] {
        const auto& wrong = edit->diagnostic();
        edit->setToolTip(wrong ? ui::windowText(wrong->message) + QStringLiteral("; ") + ui::windowText(wrong->expected) : tip);
    });
    add(edit, name, true, shown, [edit, path, dimension, unset](const ServingStudy& q) {
        const double now = std::get<double>(fieldValue(q, path));
        edit->setStored(now == 0 && !unset.isEmpty() ? QString() : ui::text(now, dimension, 4));
    });
    connect(edit, &ui::ValueEdit::committed, this, [this, path, &spec](const QString& text) {
        if (const auto read = parseField(spec, text.toStdString())) tellValue(path, *read);
    });
    connect(edit, &ui::ValueEdit::cleared, this, [this, path] { tellValue(path, 0.0); });
}

void FieldRows::offeredField(const Name& name, const std::string& path, const If& shown) {
    const FieldSpec& spec = *findField(path);
    auto* box = new QComboBox(parent_);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(10);
    const auto offer = [box](const QString& text, const QString& word, const QString& tip = {}) {
        box->addItem(text, word);
        if (!tip.isEmpty()) box->setItemData(box->count() - 1, tip, Qt::ToolTipRole);
    };
    if (spec.form == FieldForm::Type) {
        for (const DType type : {DType::BF16, DType::F16, DType::FP8, DType::I8, DType::I4, DType::FP4})
            offer(ui::qs(toText(type)), ui::qs(toText(type)));
    } else if (spec.form == FieldForm::Choice) {
        for (std::size_t i = 0; i < spec.titles.size(); ++i)
            offer(ui::qs(spec.titles[i]), ui::qs(spec.word(static_cast<int>(i))));
    } else {
        if (!spec.none.empty()) offer(ui::qs(spec.none), QString());
        for (const FieldOffer& each : offersOf(spec, path))
            offer(ui::qs(each.title), ui::qs(each.id), ui::windowText(each.meaning));
    }
    add(box, name, true, shown, [box, path, &spec](const ServingStudy& q) {
        const QString now = ui::qs(fieldText(spec, fieldValue(q, path)));
        // A file of one's own, or a type that is seldom chosen.
        if (box->findData(now) < 0) box->addItem(now, now);
        box->setCurrentIndex(box->findData(now));
    });
    connect(box, &QComboBox::activated, this, [this, box, path, &spec] {
        if (const auto read = parseField(spec, box->currentData().toString().toStdString())) tellValue(path, *read);
    });
}

void FieldRows::textField(const Name& name, const std::string& path, const If& shown) {
    auto* line = new QLineEdit(parent_);
    line->setPlaceholderText(ui::qs(findField(path)->none));
    add(line, name, true, shown, [line, path](const ServingStudy& q) {
        const QString now = ui::qs(std::get<std::string>(fieldValue(q, path)));
        if (line->text() != now) line->setText(now);
    });
    connect(line, &QLineEdit::editingFinished, this, [this, line, path] {
        if (!line->isModified()) return;
        line->setModified(false);
        tellValue(path, line->text().trimmed().toStdString());
    });
}

QComboBox* FieldRows::choice(const Name& name, const std::vector<std::pair<QString, QVariant>>& entries,
                             Bound<QVariant> value, If shown) {
    auto* box = new QComboBox(parent_);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(10);
    for (const auto& [text, data] : entries) box->addItem(text, data);
    add(box, name, true, shown,
        [box, get = value.get](const ServingStudy& q) { box->setCurrentIndex(box->findData(get(q))); });
    connect(box, &QComboBox::activated, this,
            [this, box, set = value.set] { tell([set, to = box->currentData()](ServingStudy& q) { set(q, to); }); });
    return box;
}

QCheckBox* FieldRows::flag(const Name& name, Bound<bool> value, If shown) {
    auto* box = new QCheckBox(name.label, parent_);
    add(box, name, false, shown, [box, get = value.get](const ServingStudy& q) { box->setChecked(get(q)); });
    connect(box, &QCheckBox::clicked, this,
            [this, set = value.set](bool on) { tell([set, on](ServingStudy& q) { set(q, on); }); });
    return box;
}

void FieldRows::heading(const QString& text, If shown) {
    auto* label = new ui::Label(text, ui::FontRole::Small, ui::Tone::Accent, parent_);
    form_->addRow(label);
    rows_.push_back({label, std::move(shown), [](const ServingStudy&) {}});
}

void FieldRows::note(const QString& id, std::function<QString(const ServingStudy&)> text) {
    auto* label = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, parent_);
    label->setObjectName(id);
    label->setWordWrap(true);
    form_->addRow(label);
    rows_.push_back({label, [text](const ServingStudy& q) { return !text(q).isEmpty(); },
                     [label, text](const ServingStudy& q) { label->setText(text(q)); }});
}

FieldFold::FieldFold(const QString& id, const QString& title, const QString& tip,
                     std::function<QString(const ServingStudy&)> summary, QWidget* parent)
    : ui::Fold(id, title, tip, parent), rows_(new FieldRows(plainForm(body()), body())), summary_(std::move(summary)) {
    connect(rows_, &FieldRows::edited, this, &FieldFold::edited);
    connect(rows_, &FieldRows::turnRequested, this, &FieldFold::turnRequested);
}

void FieldFold::show(const ServingStudy& question) {
    setVisible(!shownIf_ || shownIf_(question));
    head()->setSummary(summary_(question));
    rows_->show(question);
}

ListFold::ListFold(const QString& id, const QString& title, const QString& tip,
                   std::function<QString(const ServingStudy&)> summary, Items items, QWidget* parent)
    : FieldFold(id, title, tip, std::move(summary), parent), items_(std::move(items)), id_(id) {
    auto* form = static_cast<QFormLayout*>(body()->layout());
    auto* add = new QPushButton(items_.addText, body());
    add->setObjectName(id + QStringLiteral(".add"));
    add->setAccessibleName(items_.addText);
    add->setToolTip(items_.addTip);
    form->addRow(add);
    connect(add, &QPushButton::clicked, this, [this] { emit edited(items_.add); });
}

QWidget* ListFold::card(std::size_t index) {
    const int unit = ui::Theme::instance().unit();
    auto* holder = new QWidget(body());
    auto* column = new QVBoxLayout(holder);
    column->setContentsMargins(0, 0, 0, unit / 2);
    column->setSpacing(unit / 2);
    const QString name = items_.title.arg(index + 1);
    auto* row = new QHBoxLayout;
    row->addWidget(new ui::Label(name, ui::FontRole::Small, ui::Tone::Accent, holder), 1);
    auto* remove = new ui::IconButton(QStringLiteral("list-remove"), tr("Remove %1").arg(name),
                                      QStringLiteral("%1.%2.remove").arg(id_).arg(index), holder);
    row->addWidget(remove);
    column->addLayout(row);
    auto* inner = new QWidget(holder);
    column->addWidget(inner);
    auto* rows = new FieldRows(plainForm(inner), inner);
    for (const FieldSpec& spec : findField(items_.list)->inner().fields)
        rows->field(items_.list + '[' + std::to_string(index + 1) + "]/" + std::string(spec.key));
    // A card may go while its own control speaks: it is removed after the signal.
    connect(rows, &FieldRows::edited, this, &FieldFold::edited, Qt::DirectConnection);
    connect(rows, &FieldRows::turnRequested, this, &FieldFold::turnRequested);
    connect(remove, &QToolButton::clicked, this,
            [this, index] { emit edited([this, index](ServingStudy& q) { items_.remove(q, index); }); });
    cards_.push_back(holder);
    fields_.push_back(rows);
    return holder;
}

void ListFold::show(const ServingStudy& question) {
    auto* form = static_cast<QFormLayout*>(body()->layout());
    const std::size_t count = items_.count(question);
    while (cards_.size() > count) {
        form->takeRow(cards_.back());
        cards_.back()->hide();
        cards_.back()->deleteLater();
        cards_.pop_back();
        fields_.pop_back();
    }
    while (cards_.size() < count) {
        const int at = static_cast<int>(cards_.size());
        form->insertRow(at, card(cards_.size()));
    }
    for (FieldRows* fields : fields_) fields->show(question);
    FieldFold::show(question);
}

}  // namespace orrery::app
