#include "widgets/common/value_edit.h"

#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QRegularExpression>

#include <cmath>

namespace orrery::ui {

namespace {

/// The unit at the end of `500 ms`, also behind words (`e.g. 500 ms`); empty: it has none.
QString unitOf(QString spelling, Dimension dimension) {
    spelling = spelling.trimmed();
    while (!spelling.isEmpty() && !parseMeasure(spelling.toStdString(), dimension)) {
        const auto word = spelling.indexOf(QLatin1Char(' '));
        spelling = word < 0 ? QString() : spelling.mid(word).trimmed();
    }
    static const QRegularExpression number(QStringLiteral("^[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?\\s*"));
    return spelling.remove(number);
}

}  // namespace

ValueEdit::ValueEdit(QWidget* parent) : QLineEdit(parent) {
    setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    // Text that was refused goes quiet as soon as it reads well again; it is only refused on Enter or on leaving.
    connect(this, &QLineEdit::textEdited, this, [this](const QString& text) {
        if (diagnostic_ && !examine(withUnit(text.trimmed()))) setDiagnostic(std::nullopt);
    });
    connect(&Theme::instance(), &Theme::changed, this, [this] { setDiagnostic(diagnostic_); });
}

void ValueEdit::setMeasure(Dimension dimension) {
    dimension_ = dimension;
}

void ValueEdit::setCheck(Check check) {
    check_ = std::move(check);
}

void ValueEdit::setStored(const QString& spelling) {
    const bool typing = isModified() && (hasFocus() || diagnostic_);
    stored_ = spelling;
    if (typing) return;
    if (text() != spelling) {
        const int cursor = cursorPosition();
        setText(spelling);
        setCursorPosition(hasFocus() ? std::min<int>(cursor, static_cast<int>(spelling.size())) : 0);
    }
    setModified(false);
    if (diagnostic_) setDiagnostic(std::nullopt);
}

void ValueEdit::setFallback(const QString& shown) {
    fallback_ = shown;
    setPlaceholderText(shown);
}

std::optional<Diagnostic> ValueEdit::examine(const QString& text) const {
    // What is more than a measure, such as rows × columns for a count, its own check knows.
    const bool checksItself = check_ && dimension_ == Dimension::Count;
    if (dimension_ && !checksItself) {
        if (auto measure = parseMeasure(text.trimmed().toStdString(), *dimension_); !measure) return measure.error();
    }
    return check_ ? check_(text) : std::nullopt;
}

void ValueEdit::setDiagnostic(std::optional<Diagnostic> diagnostic) {
    diagnostic_ = std::move(diagnostic);
    QPalette colours = palette();
    colours.setColor(QPalette::Text, diagnostic_ ? Theme::instance().colours().bad : Theme::instance().colours().text);
    setPalette(colours);
    emit diagnosed();
}

// A count of ten thousand, `10 k`, has no unit: only what is measured in one is meant in it.
QString ValueEdit::withUnit(const QString& typed) const {
    if (!dimension_ || *dimension_ == Dimension::Number || *dimension_ == Dimension::Count) return typed;
    bool bare = false;
    const double number = typed.toDouble(&bare);
    if (!bare) return typed;
    const QString before = stored_.isEmpty() ? fallback_ : stored_;
    const QString unit = unitOf(before, *dimension_);
    // Shares are written both ways: 0.85 over `90 %` is 85 %, as in files, and 85 is too.
    if (*dimension_ == Dimension::Fraction && number > 0 && number < 1) {
        const auto was = parseMeasure(before.toStdString(), *dimension_);
        if (!was || was->si >= 0.01) return typed;
    }
    return unit.isEmpty() ? typed : typed + QLatin1Char(' ') + unit;
}

void ValueEdit::commit() {
    QString typed = text().trimmed();
    if (typed == stored_) return restore();
    typed = withUnit(typed);
    if (typed == stored_) return restore();
    if (typed.isEmpty() && clearable_) {
        setModified(false);
        if (diagnostic_) setDiagnostic(std::nullopt);
        if (!stored_.isEmpty()) emit cleared();
        return;
    }
    if (auto refused = examine(typed)) return setDiagnostic(std::move(refused));
    if (typed != text()) setText(typed);
    setModified(false);
    if (diagnostic_) setDiagnostic(std::nullopt);
    stored_ = typed;
    emit committed(typed);
}

void ValueEdit::restore() {
    setText(stored_);
    setModified(false);
    if (diagnostic_) setDiagnostic(std::nullopt);
}

void ValueEdit::step(double factor) {
    if (!dimension_) return;
    const QString from = text().trimmed().isEmpty() ? fallback_ : text().trimmed();
    const auto measure = parseMeasure(from.toStdString(), *dimension_);
    if (!measure) return;
    double next = measure->si * factor;
    if (*dimension_ == Dimension::Count) {
        next = std::round(next);
        if (next == measure->si) next += factor > 1 ? 1 : -1;
        next = std::max(next, 1.0);
    }
    setText(*dimension_ == Dimension::Count ? QString::number(next, 'f', 0)
                                            : measureText(next, measure->perCycle, *dimension_, isBinary(from)));
    setModified(true);
    commit();
}

void ValueEdit::keyPressEvent(QKeyEvent* event) {
    const double stride = event->modifiers() & Qt::ShiftModifier ? 1.5 : 1.05;
    switch (event->key()) {
        case Qt::Key_Return:
        case Qt::Key_Enter:
            commit();
            if (!diagnostic_) selectAll();
            return;
        case Qt::Key_Escape:
            if (!isModified() && !diagnostic_) break;
            restore();
            selectAll();
            return;
        case Qt::Key_Up:
        case Qt::Key_Down:
            if (!dimension_) break;
            return step(event->key() == Qt::Key_Up ? stride : 1 / stride);
        default:
            break;
    }
    QLineEdit::keyPressEvent(event);
}

void ValueEdit::focusOutEvent(QFocusEvent* event) {
    if (isModified()) commit();
    QLineEdit::focusOutEvent(event);
}

void ValueEdit::contextMenuEvent(QContextMenuEvent* event) {
    QMenu* menu = createStandardContextMenu();
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (!actions().isEmpty()) {
        menu->addSeparator();
        menu->addActions(actions());
    }
    menu->popup(event->globalPos());
}

}  // namespace orrery::ui
