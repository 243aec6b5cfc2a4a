#include "widgets/inspector/attribute_row.h"

#include "widgets/common/icon_button.h"
#include "widgets/common/log_slider.h"
#include "widgets/common/text.h"
#include "widgets/common/value_edit.h"

#include <QComboBox>

#include <cmath>

namespace orrery::ui {
namespace {

QString readable(const QString& name) {
    QString words = name.section(QLatin1Char('.'), -1);
    words.replace(QLatin1Char('_'), QLatin1Char(' '));
    if (!name.contains(QLatin1Char('.')) && !words.isEmpty()) words[0] = words[0].toUpper();
    words.replace(QStringLiteral("Noc"), QStringLiteral("NoC"));
    words.replace(QStringLiteral("Macs"), QStringLiteral("MACs"));
    words.replace(QStringLiteral("Flops"), QStringLiteral("FLOPS"));
    return words;
}

}  // namespace

RowSpec RowSpec::of(const AttributeSpec& spec) {
    RowSpec row;
    row.id = qs(spec.name);
    row.label = readable(row.id);
    row.meaning = windowText(spec.meaning);
    row.form = spec.form;
    row.dimension = spec.dimension;
    row.fallback = spec.fallback;
    row.lowest = spec.lowest;
    row.highest = spec.highest;
    for (const std::string_view choice : spec.choices) row.choices << qs(choice);
    row.explorable = spec.explorable;
    row.attribute = &spec;
    return row;
}

QString RowSpec::toolTip() const {
    QString tip = QStringLiteral("<p><span style='font-weight:600'>%1</span>").arg(label.toHtmlEscaped());
    if (!meaning.isEmpty()) tip += QStringLiteral("<br>") + meaning.toHtmlEscaped();
    tip += QStringLiteral("</p>");
    QStringList lines;
    if (form == AttributeForm::Measure) {
        const QString unit = qs(baseUnit(dimension));
        lines << (unit.isEmpty() ? qs(orrery::toText(dimension))
                                 : AttributeRow::tr("%1, in %2").arg(qs(orrery::toText(dimension)), unit));
        if (fallback) lines << AttributeRow::tr("Default: %1").arg(measureText(*fallback, false, dimension));
        if (lowest < highest)
            lines << AttributeRow::tr("Usual: %1 to %2")
                         .arg(measureText(lowest, false, dimension), measureText(highest, false, dimension));
        lines << AttributeRow::tr("Enter applies, Esc restores, ↑ ↓ step by 5 %");
    }
    if (!lines.isEmpty()) tip += QStringLiteral("<p>") + lines.join(QStringLiteral("<br>")) + QStringLiteral("</p>");
    return tip;
}

AttributeRow::AttributeRow(RowSpec spec, QWidget* parent) : QWidget(parent), spec_(std::move(spec)) {
    build();
}

void AttributeRow::build() {
    const QString name = QStringLiteral("inspector.") + spec_.id;
    const QString tip = spec_.toolTip();
    setObjectName(name + QStringLiteral(".row"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    // Queued: the editor's own size follows the new font only after this signal.
    connect(&Theme::instance(), &Theme::changed, this, &AttributeRow::arrange, Qt::QueuedConnection);

    const bool drawn = spec_.attribute && (spec_.form == AttributeForm::Measure || spec_.form == AttributeForm::Choice);
    QAction* turn = nullptr;
    if (drawn || spec_.turns || spec_.id == QLatin1String("count")) {
        setContextMenuPolicy(Qt::ActionsContextMenu);
        turn = new QAction(tr("Turn in &Explore"), this);
        turn->setObjectName(name + QStringLiteral(".turn"));
        turn->setToolTip(tr("Makes it a knob of the search on the Explore page"));
        addAction(turn);
        connect(turn, &QAction::triggered, this, &AttributeRow::turnRequested);
    }
    label_ = new Label(spec_.label, FontRole::Body, Tone::Muted, this);
    label_->setElided(true);
    label_->setToolTip(tip);

    if (spec_.form == AttributeForm::Choice || spec_.chooser) {
        choice_ = new QComboBox(this);
        for (const QString& choice : spec_.choices) choice_->addItem(choice, choice);
        choice_->setObjectName(name);
        choice_->setAccessibleName(spec_.label);
        choice_->setToolTip(tip);
        choice_->setMinimumContentsLength(6);
        choice_->setFocusPolicy(Qt::StrongFocus);
        choice_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        connect(choice_, &QComboBox::activated, this, [this](int at) {
            const QString text = choice_->itemData(at).toString();
            if (text.isEmpty())
                emit removed();
            else
                emit edited(text, EditPhase::Commit);
        });
    } else {
        edit_ = new ValueEdit(this);
        if (spec_.form == AttributeForm::Measure) edit_->setMeasure(spec_.dimension);
        if (const AttributeSpec* declared = spec_.attribute) {
            edit_->setCheck([declared, form = spec_.form](const QString& text) -> std::optional<Diagnostic> {
                if (form == AttributeForm::Measure) {
                    const auto measure = parseAttributeMeasure(*declared, text.toStdString());
                    return measure ? std::nullopt : std::optional(measure.error());
                }
                const auto value = parseAttribute(*declared, text.toStdString());
                return value ? std::nullopt : std::optional(value.error());
            });
        }
        if (spec_.form != AttributeForm::Measure) edit_->setAlignment(Qt::AlignLeft | Qt::AlignVCenter);
        edit_->setClearable(spec_.clearable);
        edit_->setObjectName(name);
        edit_->setAccessibleName(spec_.label);
        edit_->setToolTip(tip);
        edit_->setMinimumWidth(64);
        if (turn) edit_->addAction(turn);
        connect(edit_, &ValueEdit::committed, this,
                [this](const QString& text) { emit edited(text, EditPhase::Commit); });
        connect(edit_, &ValueEdit::cleared, this, &AttributeRow::removed);
        connect(edit_, &ValueEdit::diagnosed, this, &AttributeRow::showDiagnostic);
    }
    if (spec_.explorable && spec_.form == AttributeForm::Measure) {
        slider_ = new LogSlider(this);
        slider_->setHidden(spec_.sliderIfGiven);
        slider_->setObjectName(name + QStringLiteral(".slider"));
        slider_->setAccessibleName(tr("%1, slider").arg(spec_.label));
        slider_->setToolTip(tr("%1: drag to change; ← → step by 5 %, Esc cancels a drag").arg(spec_.label));
        connect(slider_, &LogSlider::edited, this, [this](double value, EditPhase phase) {
            if (phase == EditPhase::Begin) mixedFrom_ = value_.mixed ? std::optional(value) : std::nullopt;
            if (phase == EditPhase::Commit && slider_->isDragging() == false && mixedFrom_) {
                const bool back = *mixedFrom_ == value;
                mixedFrom_.reset();
                if (back) return emit restored();
            }
            const QString text =
                phase == EditPhase::Begin && value_.measure && !value_.mixed
                    ? value_.text
                    : (spec_.dimension == Dimension::Count ? QString::number(value, 'f', 0)
                                                           : measureText(value, perCycle_, spec_.dimension, binary_));
            emit edited(text, phase);
        });
    }
    chip_ = new Chip(this);
    chip_->setObjectName(name + QStringLiteral(".source"));
    chip_->setAccessibleName(tr("Source of %1").arg(spec_.label));
    reset_ = new IconButton(QStringLiteral("edit-undo"), tr("Reset %1").arg(spec_.label),
                            name + QStringLiteral(".reset"), this);
    connect(reset_, &QToolButton::clicked, this, [this] {
        if (value_.preset && !value_.preset->isEmpty())
            emit edited(*value_.preset, EditPhase::Commit);
        else
            emit removed();
    });
    error_ = new Label({}, FontRole::Small, Tone::Bad, this);
    error_->setObjectName(name + QStringLiteral(".error"));
    error_->setWordWrap(true);
    error_->hide();
    if (!spec_.disabled.isEmpty()) {
        if (edit_) edit_->setEnabled(false);
        if (choice_) choice_->setEnabled(false);
        for (QWidget* part : {static_cast<QWidget*>(edit_), static_cast<QWidget*>(choice_)})
            if (part) part->setToolTip(spec_.disabled);
        label_->setToolTip(spec_.disabled);
    }
    arrange();
}

void AttributeRow::setChoices(const QStringList& choices, const QString& none) {
    if (!choice_ || (choice_->count() > 0 && spec_.choices == choices)) return;
    spec_.choices = choices;
    const QSignalBlocker quiet(choice_);
    choice_->clear();
    choice_->addItem(none, QString());
    for (const QString& choice : choices) choice_->addItem(choice, choice);
    const int at = choice_->findData(value_.text);
    choice_->setCurrentIndex(value_.mixed ? -1 : at);
    if (at < 0 && !value_.text.isEmpty()) {
        choice_->addItem(value_.text, value_.text);
        choice_->setCurrentIndex(choice_->count() - 1);
    }
    arrange();
}

void AttributeRow::setWide(bool wide, int labelWidth) {
    if (wide == wide_ && labelWidth == labelWidth_) return;
    wide_ = wide;
    labelWidth_ = labelWidth;
    arrange();
}

void AttributeRow::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (event->size().width() != event->oldSize().width()) arrange();
}

void AttributeRow::arrange() {
    constexpr int gap = 6, sliderHeight = 18;
    QWidget* editor = choice_ ? static_cast<QWidget*>(choice_) : edit_;
    const int line = std::max(editor->sizeHint().height(), 24);
    const int resetAt = width() - reset_->width();
    const double scale = Theme::instance().scale();
    const bool words = width() >= 520 * scale;
    chip_->setCompact(!words);
    const int chipWidth = qRound((words ? 92 : 16) * scale), chipHeight = qRound(18 * scale);
    const int chipAt = resetAt - chipWidth - 2;
    const int editorEnd = chipAt - gap;
    // What is said is never cut: its name, which the tip says whole, gives way, and stands above it where both have no
    // room.
    const int shortestLabel = qRound(48 * scale), frame = qRound(32 * scale), arrow = qRound(20 * scale);
    const int needs = edit_ ? edit_->fontMetrics().horizontalAdvance(edit_->text()) + frame
                            : choice_->fontMetrics().horizontalAdvance(choice_->currentText()) + frame + arrow;
    const int room = editorEnd - gap - needs;
    const bool above = room < std::min(shortestLabel, labelWidth_);
    const int labelWidth = above ? editorEnd : std::min(labelWidth_, std::max(shortestLabel, room));
    const int labelHeight = above ? label_->sizeHint().height() + 2 : line;
    const int top = above ? labelHeight : 0;
    label_->setGeometry(0, 0, labelWidth, labelHeight);
    const bool sliding = slider_ && !slider_->isHidden();
    const bool beside = wide_ && sliding && !above;
    const int editorAt = above ? 0
                         : beside
                             ? std::max(labelWidth + gap, editorEnd - static_cast<int>(104 * scale))
                             : labelWidth + gap;
    editor->setGeometry(editorAt, top, std::max(40, editorEnd - editorAt), line);
    chip_->setGeometry(chipAt, top + (line - chipHeight) / 2, chipWidth, chipHeight);
    reset_->move(resetAt, top + (line - reset_->height()) / 2);
    int bottom = top + line;
    if (sliding) {
        if (beside) {
            slider_->setGeometry(labelWidth + gap, (line - sliderHeight) / 2,
                                 std::max(40, editorAt - labelWidth - 3 * gap), sliderHeight);
        } else {
            slider_->setGeometry(0, bottom + 1, editorEnd, sliderHeight);
            bottom += 1 + slider_->height();  // the style may ask for more
        }
    }
    if (!error_->isHidden()) {
        const int high = error_->heightForWidth(width());
        error_->setGeometry(0, bottom + 2, width(), high);
        bottom += high + 4;
    }
    setFixedHeight(bottom);
}

void AttributeRow::show(const RowValue& value) {
    if (shown_ && value == value_) return;
    shown_ = true;
    value_ = value;
    binary_ = isBinary(value.text);
    perCycle_ = value.measure && value.measure->perCycle;
    if (choice_) {
        const QSignalBlocker quiet(choice_);
        int at = choice_->findData(value.text);
        if (at < 0 && !value.text.isEmpty()) {
            choice_->addItem(value.text, value.text);
            at = choice_->count() - 1;
        }
        choice_->setPlaceholderText(value.mixed ? tr("mixed") : tr("not given"));
        choice_->setCurrentIndex(value.mixed ? -1 : at);
        arrange();
    } else {
        edit_->setFallback(value.mixed               ? tr("mixed")
                           : spec_.fallback          ? measureText(*spec_.fallback, false, spec_.dimension)
                           : spec_.example.isEmpty() ? tr("not given")
                                                     : tr("e.g. %1").arg(spec_.example));
        edit_->setStored(value.text);
        arrange();
    }
    showSlider();
    showChip();
    const bool differs = value.preset ? *value.preset != value.text
                                      : !value.text.isEmpty() && spec_.clearable && spec_.fallback.has_value();
    reset_->setVisible(differs);
    reset_->setToolTip(value.preset && !value.preset->isEmpty() ? tr("Back to the preset’s %1").arg(*value.preset)
                       : spec_.fallback
                           ? tr("Back to the default, %1").arg(measureText(*spec_.fallback, false, spec_.dimension))
                           : tr("Remove this value"));
}

void AttributeRow::showSlider() {
    if (!slider_) return;
    if (spec_.sliderIfGiven && slider_->isHidden() == isGiven()) {
        slider_->setHidden(!isGiven());
        arrange();
    }
    const std::optional<double> at = value_.measure ? std::optional(value_.measure->si) : spec_.fallback;
    slider_->setEnabled(at && *at > 0);
    if (!at || *at <= 0) return;
    if (!slider_->isDragging()) {
        const bool ranged = spec_.lowest < spec_.highest;
        double low = spec_.lowest, high = spec_.highest;
        if (spec_.attribute) {
            // Usual ranges span every device there is; exploring one wants a few octaves around where it stands.
            constexpr double reach = 16;
            if (anchor_ <= 0 || *at < anchor_ / reach || *at > anchor_ * reach) anchor_ = *at;
            low = anchor_ / reach;
            high = anchor_ * reach;
            if (ranged && !perCycle_) {
                low = std::max(low, spec_.lowest);
                high = std::min(high, spec_.highest);
            }
        }
        if (spec_.dimension == Dimension::Count) low = std::max(1.0, std::round(low));
        slider_->setLogRange(std::min(low, *at), std::max(high, *at),
                             spec_.powersOfTwo                     ? LogSlider::Snap::PowerOfTwo
                             : spec_.dimension == Dimension::Count ? LogSlider::Snap::Whole
                                                                   : LogSlider::Snap::Digits);
    }
    slider_->setValue(*at);
    std::optional<double> mark = spec_.fallback;
    if (value_.preset) {
        if (const auto preset = parseMeasure(value_.preset->toStdString(), spec_.dimension)) mark = preset->si;
    }
    slider_->setMark(mark);
}

bool AttributeRow::isUnusual() const {
    if (!value_.measure || value_.mixed) return false;
    if (spec_.attribute) return !isUsual(*spec_.attribute, *value_.measure);
    return spec_.lowest < spec_.highest && (value_.measure->si < spec_.lowest || value_.measure->si > spec_.highest);
}

void AttributeRow::showChip() {
    const QString note = value_.note.isEmpty() ? QString() : QStringLiteral("\n") + value_.note;
    if (!spec_.disabled.isEmpty()) return chip_->set({}, Tone::Muted, spec_.disabled);
    if (value_.mixed)
        return chip_->set(tr("mixed"), Tone::Accent,
                          tr("Different values; a new value is set on all:") + QLatin1Char('\n') + value_.mixedValues);
    if (value_.mixedSources) return chip_->set(tr("several"), Tone::Normal, tr("One value from different sources"));
    if (value_.text.isEmpty()) {
        if (spec_.fallback)
            return chip_->set(
                tr("default"), Tone::Muted,
                tr("Not given: %1 is assumed.").arg(measureText(*spec_.fallback, false, spec_.dimension)));
        return chip_->set({}, Tone::Muted, tr("Not given"));
    }
    if (isUnusual())
        return chip_->set(tr("unusual"), Tone::Warning,
                          tr("Outside the usual range, %1 to %2.")
                                  .arg(measureText(spec_.lowest, false, spec_.dimension),
                                       measureText(spec_.highest, false, spec_.dimension)) +
                              note);
    if (value_.preset && *value_.preset != value_.text)
        return chip_->set(tr("edited"), Tone::Accent,
                          value_.preset->isEmpty() ? tr("Not given in the preset.")
                                                   : tr("The preset says %1.").arg(*value_.preset) + note);
    if (value_.source == QStringLiteral("edited"))
        return chip_->set(tr("edited"), Tone::Accent, tr("Changed by hand.") + note);
    if (value_.source == QStringLiteral("unverified"))
        return chip_->set(tr("unverified"), Tone::Warning,
                          tr("Nobody has checked this value against a source.") + note);
    if (value_.source.isEmpty()) return chip_->set({}, Tone::Muted, tr("No source is given for this value.") + note);
    chip_->set(value_.source, Tone::Normal, (value_.sourceText.isEmpty() ? value_.source : value_.sourceText) + note);
}

void AttributeRow::showDiagnostic() {
    const auto& refused = edit_->diagnostic();
    error_->setVisible(refused.has_value());
    if (!refused) {
        error_->setFullText({});
        return arrange();
    }
    QString text = windowText(refused->message);
    const std::string& more = refused->hint.empty() ? refused->expected : refused->hint;
    if (!more.empty()) text += QStringLiteral(" – ") + windowText(more);
    error_->setFullText(text);
    arrange();
}

}  // namespace orrery::ui
