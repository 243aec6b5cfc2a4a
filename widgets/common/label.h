#pragma once

#include "widgets/common/theme.h"

#include <QLabel>

#include <array>
#include <utility>

class QPushButton;

namespace orrery::ui {

enum class Tone { Normal, Muted, Accent, Good, Warning, Bad };
QColor toneColour(Tone tone);

/// A label in one of the theme's fonts and tones that follows the theme. Elided ones show their whole text on hover.
class Label : public QLabel {
    Q_OBJECT
public:
    explicit Label(const QString& text = {}, FontRole role = FontRole::Body, Tone tone = Tone::Normal,
                   QWidget* parent = nullptr);
    void setTone(Tone tone);
    void setBold(bool bold);
    void setElided(bool elided);  ///< one line that gives way to its neighbours
    void setFullText(const QString& text);
    QSize minimumSizeHint() const override;
    /// Remembered: a layout asks for the same few widths at every pass, and rich text is set anew for each.
    int heightForWidth(int width) const override;

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Heights {
        QString text;
        std::array<std::pair<int, int>, 4> known{};  ///< width, height
        int count = 0;
    };

    void restyle();

    FontRole role_;
    Tone tone_;
    bool bold_ = false;
    bool elided_ = false;
    mutable Heights heights_;
};

/// Heading of a section of a panel: small, muted, with a hairline to the right.
class SectionHeader : public QWidget {
    Q_OBJECT
public:
    explicit SectionHeader(const QString& text, QWidget* parent = nullptr);
    void setText(const QString& text);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString text_;
};

/// What a view says while it has nothing to show: a sentence and, optionally, the button that fills it.
class EmptyPage : public QWidget {
    Q_OBJECT
public:
    EmptyPage(const QString& title, const QString& text, const QString& button = {}, QWidget* parent = nullptr);
    void setTexts(const QString& title, const QString& text);
    void setButton(const QString& text);  ///< empty: none

signals:
    void clicked();

private:
    Label* title_;
    Label* text_;
    QPushButton* button_ = nullptr;  ///< made when it has something to say
};

}  // namespace orrery::ui
